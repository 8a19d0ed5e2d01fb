public import InternetMessage

/// The envelope sender that a mail server passes.
@nonexhaustive
public enum EnvelopeSender: Hashable, Sendable {
    case address(EmailAddress)
    /// The null sender, which bounces have (RFC 5321 §4.5.5).
    case null
    /// Any other text: a name without a domain, or an address in a form that no account and no certificate can have, such as
    /// a very long one of a mailing list.
    case other(String)

    /// Reads the sender as mail servers write it: an address, with or without angle brackets; or an empty string, `<>`, or
    /// MAILER-DAEMON (pipe(8)) for the null sender.
    public init(_ text: String) {
        let isPath = text.hasPrefix("<") && text.hasSuffix(">") && text.count > 1
        let text = isPath ? String(text.dropFirst().dropLast()) : text
        if ["", "mailer-daemon"].contains(text.lowercased()) {
            self = .null
        } else {
            self = (try? EmailAddress(text)).map(Self.address) ?? .other(text)
        }
    }

    /// The address, if an account can have it; otherwise nil.
    public var address: EmailAddress? {
        guard case .address(let address) = self else { return nil }
        return address
    }

    /// The address with which rules for senders are looked up; nil if the sender has no domain.
    ///
    /// The rules of a domain, and of the address without the detail, also apply to an address that no account can have, such
    /// as one with a long local part, a comment, misplaced dots or invisible characters, or a dot at the end of the domain.
    package var addressForRules: EmailAddress? {
        // Scalars are searched, because mail servers compare bytes: for them, a combining mark does not change the @ before
        // it.
        guard case .other(let text) = self else { return address }
        let bare = text.unicodeScalars.withoutComments
        var scalars = (bare.contains("@") ? bare : Array(text.unicodeScalars)).trimmed
        // Mail servers take the address from brackets, also after a name.
        if scalars.last == ">", let start = scalars.lastIndex(of: "<") {
            scalars = scalars[(start + 1)...].dropLast().trimmed
        }
        if scalars.first == "@", let colon = scalars.firstIndex(of: ":") { scalars = scalars[(colon + 1)...] }
        guard let at = scalars.lastIndex(of: "@") else { return nil }
        var domain = scalars[(at + 1)...]
        if domain.last == "." { domain = domain.dropLast() }
        if domain.first == "[", domain.last == "]" { domain = domain.dropFirst().dropLast() }
        let local = String(String.UnicodeScalarView(scalars[..<at]))
        let visible = local.unicodeScalars.filter { !$0.isUnsafeToDisplay && $0 != "\"" && $0 != "\\" }
            .prefix(Self.longestLocalPart)
        let short = String(String.UnicodeScalarView(visible))
        // No rule is for the last form itself, but rules for its domain apply to it.
        return [local, "\"\(local)\"", short, "\"\(short)\"", "\"no address\""].lazy
            .compactMap { try? EmailAddress(envelope: "\($0)@\(String(String.UnicodeScalarView(domain)))") }.first
    }

    /// How many characters of a local part are read. If a longer local part has a detail, only a detail that begins
    /// before this place is found.
    private static let longestLocalPart = 200

    /// The sender without angle brackets; empty for the null sender.
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

extension EmailAddress {
    /// The address by which rules and certificates for the envelope recipient `text` are found; nil if there is none.
    ///
    /// Mail servers accept more than RFC 5321's syntax has: a long local part, additional dots in it, and a dot after the
    /// domain. A local part with such dots is quoted here, and the dot after the domain is omitted, so that the rules and the
    /// certificate of the same mailbox are found.
    ///
    /// - Parameter host: the domain of `postmaster` without a domain (RFC 5321 §4.1.1.3).
    init?(recipient text: String, on host: String) {
        if let address = try? EmailAddress(text) {
            self = address
            return
        }
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            // The mail server adds a domain to any other name. Only the mail server knows that domain, so its rules could not
            // be found here.
            guard text.lowercased() == "postmaster" else { return nil }
            self.init(text, at: host)
            return
        }
        let domain = text[text.utf8.index(after: at)...]
        self.init(String(text[..<at]), at: String(domain.hasSuffix(".") ? domain.dropLast() : domain))
    }

    private init?(_ local: String, at domain: String) {
        // Text with one of these characters is not quoted, because other programs end the address there.
        let isSafe = !local.unicodeScalars.contains {
            $0.properties.isWhitespace || "()<>[]:;@\\,\"".unicodeScalars.contains($0)
        }
        let forms = ["\(local)@\(domain)"] + (isSafe ? ["\"\(local)\"@\(domain)"] : [])
        guard let address = forms.lazy.compactMap({ try? EmailAddress(envelope: $0) }).first else { return nil }
        self = address
    }
}

extension Collection<Unicode.Scalar> where Index == Int {
    /// The scalars without white space at both ends.
    fileprivate var trimmed: ArraySlice<Unicode.Scalar> {
        var scalars = Array(self)[...]
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        return scalars
    }
}
