public import InternetMessage

/// The envelope sender of a mail server.
@nonexhaustive
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

    /// The address that rules for senders are looked up by; nil without a domain.
    ///
    /// An address that no account can have may still fall under a domain's rules: one with a long local part or misplaced dots, or with a
    /// dot at the end of the domain.
    var ruled: EmailAddress? {
        guard case .other(let text) = self, let at = text.lastIndex(of: "@") else { return address }
        var domain = text[text.index(after: at)...]
        if domain.last == "." { domain = domain.dropLast() }
        let local = text[..<at]
        // No rule is for the last one, but for its domain.
        let forms = ["\(local)@\(domain)", "\"\(local)\"@\(domain)", "\"no address\"@\(domain)"]
        return forms.lazy.compactMap { try? EmailAddress($0) }.first
    }

    /// The argument for sendmail; empty for the null sender.
    public var text: String {
        switch self {
        case .address(let address): address.text
        case .null: ""
        case .other(let text): text
        }
    }
}

extension EnvelopeSender: CustomStringConvertible {
    public var description: String { self == .null ? "the null sender" : text }
}
