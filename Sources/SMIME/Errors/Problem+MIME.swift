import InternetMessage
import PKIX

extension Problem {
    /// Reports a MIME defect outside the protected part as a problem.
    init(_ defect: MIMEDefect) { self.init(ProblemCode(defect), defect.text) }

    /// The problem that `error` describes.
    ///
    /// - Throws: `error` itself if it is not about the message, such as a file that cannot be read.
    package init(describing error: any Error) throws {
        switch error {
        case CMSError.decryptionFailed: self.init(.decryptionFailed, "\(CMSError.decryptionFailed)")
        case let error as MessageError where error == .certificatesOnly: self.init(.certificatesOnly, "\(error)")
        case let error as MessageError where error == .needsSecret: self.init(.needsSecret, "\(error)")
        case let error as MessageError where error == .notARecipient: self.init(.notARecipient, "\(error)")
        case let error as MessageError where [.encryptedInParts, .notEncrypted].contains(error):
            self.init(.notEncrypted, "\(error)")
        case MessageError.defective(let defect): self.init(defect)
        case MessageError.malformed(let why): self.init(.malformed, why)
        case MessageError.tooManyLayers: self.init(.tooManyLayers, "more than \(LayerLimit.count) layers")
        case CMSError.malformed(_, let why): self.init(.cmsMalformed, "the CMS object is malformed: \(why)")
        case CMSError.unsupported(let what): self.init(.algorithmUnsupported, "\(what) is not supported")
        case CMSError.limitExceeded(let what): self.init(.cmsLimit, "the CMS object exceeds a limit: \(what)")
        case MIMEError.unreadable(let cause): throw cause
        case let error as MIMEError: self.init(.malformed, "\(error)")
        default: throw error
        }
    }
}

extension ProblemCode {
    /// The problem code with the same name as the defect.
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
            case .hiddenFields: .hiddenFields
            case .malformedContentType: .malformedContentType
            case .mboxLine: .mboxLine
            case .missingBoundary: .missingBoundary
            case .missingHeaderEnd: .missingHeaderEnd
            case .nul: .nulByte
            case .unterminatedMultipart: .unterminatedMultipart
            }
    }
}
