/// The transfer encoding of a body (RFC 2045 §6).
@nonexhaustive
package enum TransferEncoding: Hashable, Sendable {
    case sevenBit
    case eightBit
    case binary
    case base64
    case quotedPrintable
    /// An encoding that this library does not support, in lower case.
    case other(String)

    /// The encoding with the given name, in any case.
    package init(_ name: String) {
        switch name.lowercased() {
        case "7bit", "": self = .sevenBit
        case "8bit": self = .eightBit
        case "binary": self = .binary
        case "base64": self = .base64
        case "quoted-printable": self = .quotedPrintable
        case let other: self = .other(other)
        }
    }

    /// The encoding in a Content-Transfer-Encoding field.
    init(field: HeaderField) {
        var tokens = FieldTokens(field.unfoldedBody)
        tokens.skipBlanksAndComments()
        self.init(String(mail: tokens.takeToken(until: ";(")))
    }

    /// The name in a header.
    package var name: String {
        switch self {
        case .sevenBit: "7bit"
        case .eightBit: "8bit"
        case .binary: "binary"
        case .base64: "base64"
        case .quotedPrintable: "quoted-printable"
        case .other(let name): name
        }
    }

    /// Whether the body's bytes are the content itself.
    package var isIdentity: Bool { self == .sevenBit || self == .eightBit || self == .binary }
}
