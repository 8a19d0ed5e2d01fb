import CMS
import MIME

extension Problem {
    /// What is wrong with the MIME around what is protected.
    init(_ defect: MIMEDefect) { self.init(ProblemCode(defect), defect.text) }
}

extension ProblemCode {
    /// The code of a defect, which bears the same name.
    init(_ defect: MIMEDefect) {
        self =
            switch defect {
            case .bareCR: .bareCR
            case .bareLF: .bareLF
            case .blankBeforeColon: .blankBeforeColon
            case .byteOrderMark: .byteOrderMark
            case .contradictoryBoundary: .contradictoryBoundary
            case .duplicateContentType: .duplicateContentType
            case .duplicateTransferEncoding: .duplicateTransferEncoding
            case .encodedMultipart: .encodedMultipart
            case .malformedContentType: .malformedContentType
            case .mboxLine: .mboxLine
            case .missingBoundary: .missingBoundary
            case .missingHeaderEnd: .missingHeaderEnd
            case .nul: .nulByte
            case .unterminatedMultipart: .unterminatedMultipart
            }
    }
}
