package import InternetMessage

extension Policy {
    /// The addresses that a rule is for: one address, a domain, or everything below a domain.
    public struct Pattern: Hashable, Sendable {
        /// A key that equal patterns share: `local@domain`, `@domain`, `*.domain`.
        package let key: String
        /// The pattern as it was written, a domain without its @.
        public let text: String

        /// Reads `bob@example.org`, `example.org`, `@example.org`, `*@example.org` or `*.example.org`; nil if it is none of those.
        ///
        /// Domains may be written with A-labels or U-labels.
        public init?(_ written: String) {
            // `*@example.org` means the same as `@example.org`, not a mailbox named `*`.
            let text = written.hasPrefix("*@") ? String(written.dropFirst()) : written
            let isWildcard = text.hasPrefix("*.")
            let domain = isWildcard ? text.dropFirst(2) : text.hasPrefix("@") ? text.dropFirst() : text[...]
            if !isWildcard, domain.contains("@") {
                guard domain.count == text.count, let address = try? EmailAddress(text) else { return nil }
                (self.text, key) = (text, address.key)
                return
            }
            // A domain is what can stand after the @ of an address.
            guard !domain.contains("@"), let ascii = try? EmailAddress("x@\(domain)").asciiDomain,
                !isWildcard || !ascii.hasPrefix("[")
            else { return nil }
            self.text = (isWildcard ? "*." : "") + domain
            key = (isWildcard ? "*." : "@") + ascii
        }

        /// The keys of all patterns that `address` fits, the closest one first: the address, its domain, the domains
        /// above it.
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
