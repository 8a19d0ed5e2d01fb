package import InternetMessage

extension Policy {
    /// The addresses to which a rule applies: one address, a domain, or all domains below a domain.
    public struct Pattern: Hashable, Sendable {
        /// The key by which patterns are compared: `local@domain`, `@domain`, `*.domain`.
        package let key: String
        /// The pattern as written; a domain is written without its @.
        public let text: String

        /// Reads `bob@example.org`, `example.org`, `@example.org`, `*@example.org` or `*.example.org`; nil if `written` has
        /// another form.
        ///
        /// Domains may be written with A-labels or U-labels.
        public init?(_ written: String) {
            // `*@example.org` means the same as `@example.org`; it is not a mailbox named `*`.
            let text = written.hasPrefix("*@") ? String(written.dropFirst()) : written
            let isWildcard = text.hasPrefix("*.")
            let domain = isWildcard ? text.dropFirst(2) : text.hasPrefix("@") ? text.dropFirst() : text[...]
            if !isWildcard, domain.contains("@") {
                guard domain.count == text.count, let address = try? EmailAddress(text) else { return nil }
                (self.text, key) = (text, address.key)
                return
            }
            // A domain is valid if it can follow the @ of an address.
            guard !domain.contains("@"), let ascii = try? EmailAddress("x@\(domain)").asciiDomain,
                !isWildcard || !ascii.hasPrefix("[")
            else { return nil }
            self.text = (isWildcard ? "*." : "") + domain
            key = (isWildcard ? "*." : "@") + ascii
        }

        /// The keys of all patterns that match `address`, the most specific first: the address, its domain, and the domains
        /// above.
        package static func keys(for address: EmailAddress) -> [String] {
            var keys = [address.key, "@" + address.asciiDomain]
            guard !address.asciiDomain.hasPrefix("[") else { return keys }
            var rest = address.asciiDomain[...]
            while let dot = rest.firstIndex(of: ".") {
                rest = rest[rest.index(after: dot)...]
                keys.append("*." + rest)
            }
            return keys
        }
    }
}

extension Policy.Pattern: CustomStringConvertible {
    public var description: String { text }
}
