public import MIME

/// Who a mail server says that mail is from.
public enum EnvelopeSender: Hashable, Sendable {
    case address(EmailAddress)
    /// The null sender, of bounces (RFC 5321 §4.5.5).
    case null
    /// An address in a form that has no account and no certificate, such as a very long one of a mailing list.
    case other(String)

    /// Reads what an MTA gives: an address; nothing, `<>` or pipe(8)'s MAILER-DAEMON for the null sender.
    public init(_ text: String) {
        if ["", "<>", "mailer-daemon"].contains(text.lowercased()) {
            self = .null
        } else {
            self = (try? EmailAddress(text)).map(Self.address) ?? .other(text)
        }
    }

    /// The address, if it is one that accounts have.
    public var address: EmailAddress? {
        guard case .address(let address) = self else { return nil }
        return address
    }

    /// What sendmail is told; empty for the null sender.
    public var text: String {
        switch self {
        case .address(let address): address.text
        case .null: ""
        case .other(let text): text
        }
    }
}
