import InternetMessage

extension EmailAddress {
    /// The address by which rules and certificates for the envelope recipient `text` are found; nil if there is none.
    ///
    /// Mail servers accept more than RFC 5321's syntax has: a long local part, additional dots in it, a dot after the domain,
    /// and a name without a domain. Dots are quoted here and the last one is left out, so that the rules and the certificate
    /// of the same mailbox are found.
    ///
    /// - Parameter host: the domain of a name without a domain.
    init?(recipient text: String, on host: String) {
        if let address = try? EmailAddress(text) {
            self = address
            return
        }
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            guard Self.isPlainName(text) else { return nil }
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

    /// Whether `text` is a name without characters that have a meaning for mail servers, as `|` and `/` have.
    private static func isPlainName(_ text: String) -> Bool {
        func isWord(_ character: Character) -> Bool {
            character.isASCII && (character.isLetter || character.isNumber)
        }
        return text.first.map(isWord) == true && text.allSatisfy { isWord($0) || "._+-=".contains($0) }
    }
}
