/// A violation of RFC 5322 or RFC 2045 to 2049 that was found while reading mail.
@nonexhaustive
package enum MIMEDefect: String, Hashable, Sendable, CaseIterable {
    case bareCR = "bare-cr"
    case bareLF = "bare-lf"
    case blankBeforeColon = "blank-before-colon"
    case byteOrderMark = "byte-order-mark"
    case contradictoryBoundary = "contradictory-boundary"
    case duplicateContentType = "duplicate-content-type"
    case duplicateTransferEncoding = "duplicate-transfer-encoding"
    case encodedMultipart = "encoded-multipart"
    case hiddenFields = "hidden-fields"
    case malformedContentType = "malformed-content-type"
    case mboxLine = "mbox-line"
    case missingBoundary = "missing-boundary"
    case missingHeaderEnd = "missing-header-end"
    case nul = "nul-byte"
    case unterminatedMultipart = "unterminated-multipart"

    /// Whether the defect makes the rest of the message unreliable, so that no verdict is possible.
    package var isError: Bool {
        switch self {
        case .contradictoryBoundary, .duplicateContentType, .duplicateTransferEncoding, .encodedMultipart,
            .hiddenFields, .missingBoundary:
            true
        default: false
        }
    }

    /// The defect in words.
    package var text: String {
        switch self {
        case .bareCR: "a carriage return without a line feed"
        case .bareLF: "a line feed without a carriage return among CRLF lines"
        case .blankBeforeColon: "a blank between a field's name and its colon"
        case .byteOrderMark: "a byte order mark in front of the header"
        case .contradictoryBoundary: "a multipart whose parts begin elsewhere for other mail programs"
        case .duplicateContentType: "more than one Content-Type field"
        case .duplicateTransferEncoding: "more than one Content-Transfer-Encoding field"
        case .encodedMultipart: "a multipart with a transfer encoding"
        case .hiddenFields: "a header in which other programs may find other fields"
        case .malformedContentType: "a Content-Type that not all mail programs can read"
        case .mboxLine: "the From line of an mbox file in front of the header"
        case .missingBoundary: "a multipart without a usable boundary"
        case .missingHeaderEnd: "the header ends at a line that is not a field, without an empty line"
        case .nul: "a NUL byte"
        case .unterminatedMultipart: "a multipart without its closing delimiter"
        }
    }
}

extension MIMEDefect: CustomStringConvertible {
    /// The defect's code in reports.
    package var description: String { rawValue }
}
