import InternetMessage

extension EmailAddress {
    /// The address by which rules and certificates for the envelope recipient `text` are found; nil if there is none.
    ///
    /// Mail servers accept more than RFC 5321's syntax has: a long local part, additional dots in it, and a dot after the
    /// domain. Dots are quoted here and the last one is left out, so that the rules and the certificate
    /// of the same mailbox are found.
    ///
    /// - Parameter host: the domain of `postmaster` without a domain (RFC 5321 §4.1.1.3).
    init?(recipient text: String, on host: String) {
        if let address = try? EmailAddress(text) {
            self = address
            return
        }
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            // The mail server adds a domain to any other name, and only it knows which: rules for that domain would not apply.
            guard text.lowercased() == "postmaster" else { return nil }
            self.init(text, at: host)
            return
        }
        let domain = text[text.utf8.index(after: at)...]
        self.init(String(text[..<at]), at: String(domain.hasSuffix(".") ? domain.dropLast() : domain))
    }

    private init?(_ local: String, at domain: String) {
        // The quotes must not make an address of text that ends an address elsewhere.
        let isSafe = !local.unicodeScalars.contains {
            $0.properties.isWhitespace || "()<>[]:;@\\,\"".unicodeScalars.contains($0)
        }
        let forms = ["\(local)@\(domain)"] + (isSafe ? ["\"\(local)\"@\(domain)"] : [])
        guard let address = forms.lazy.compactMap({ try? EmailAddress(envelope: $0) }).first else { return nil }
        self = address
    }
}
