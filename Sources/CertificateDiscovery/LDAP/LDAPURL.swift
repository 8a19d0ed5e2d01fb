/// Where and how to search an LDAP directory for an address: `ldaps://ldap.example.org/dc=example,dc=org??sub?(mail=%s)`.
///
/// In the filter, `%s` is replaced by the address, escaped according to RFC 4515. The defaults are the scope `sub`, the
/// filter `(mail=%s)`, and the standard certificate attributes.
///
/// RFC 4516
package struct LDAPURL: Hashable, Sendable {
    /// The entries that are searched: only the base entry, or also entries below it.
    package enum Scope: String, Sendable {
        case base
        case oneLevel = "one"
        case subtree = "sub"
    }

    /// `ldap`, `ldaps` or `ldapi`.
    package let scheme: String
    /// The host and the port as in the URL; for `ldapi` the percent-encoded path of a socket.
    package let authority: String
    /// The DN of the entry at which the search begins.
    package let base: String
    /// The names of the attributes that contain certificates.
    package let attributes: [String]
    package let scope: Scope
    /// The parts of the filter between the places for the address.
    private let filter: [String]

    /// The certificate attributes (RFC 4523, RFC 2798). Active Directory stores them without `;binary`.
    package static let standardAttributes = [
        "userCertificate;binary", "userCertificate", "userSMIMECertificate;binary", "userSMIMECertificate",
    ]

    /// The URL without the base and the search parameters.
    package var server: String { "\(scheme)://\(authority)" }

    /// Reads a URL; nil if the URL is malformed, contains user information or an extension, or its filter does not contain
    /// `%s`.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let mark = text.firstRange(of: "://") else {
            return nil
        }
        scheme = text[..<mark.lowerBound].lowercased()
        guard ["ldap", "ldaps", "ldapi"].contains(scheme) else { return nil }
        let rest = text[mark.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        authority = String(rest[..<slash])
        guard !authority.isEmpty, !authority.contains("@"), !authority.contains("?"), !authority.contains(",") else {
            return nil
        }
        let parts = rest[slash...].dropFirst().split(separator: "?", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 5, parts.count < 5 || parts[4].isEmpty else { return nil }
        func part(_ index: Int) -> String { parts.indices.contains(index) ? parts[index] : "" }
        guard let base = Self.decoded(part(0)), base.count == 1 else { return nil }
        self.base = base[0]
        let names = part(1).split(separator: ",").map(String.init)
        guard names.allSatisfy({ $0.utf8.allSatisfy(Self.isOfName) }) else { return nil }
        attributes = names.isEmpty ? Self.standardAttributes : names
        let depth = part(2).lowercased()
        guard let scope = depth.isEmpty ? .subtree : Scope(rawValue: depth) else { return nil }
        self.scope = scope
        let written = part(3).isEmpty ? "(mail=%s)" : part(3)
        guard let filter = Self.decoded(written), filter.count > 1 else { return nil }
        self.filter = filter
    }

    /// The filter for `address`. The address is escaped, so it cannot change the structure of the filter.
    ///
    /// RFC 4515 §3
    package func filter(for address: String) -> String { filter.joined(separator: Self.escaped(address)) }

    /// Escapes all characters except letters, digits and characters that are common in addresses.
    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { escaped, byte in
            let isPlain = isAlphanumeric(byte) || "@.-_+=".utf8.contains(byte)
            if isPlain {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                escaped += "\\" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "-.;".utf8.contains(byte) }

    /// The parts of `text` between the places of `%s`, percent-decoded; nil if the percent-encoding is malformed, or a part is
    /// not UTF-8 or contains a NUL.
    private static func decoded(_ text: String) -> [String]? {
        var pieces: [[UInt8]] = [[]]
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                pieces[pieces.count - 1].append(byte)
                continue
            }
            guard let high = bytes.next() else { return nil }
            if high == UInt8(ascii: "s") {
                pieces.append([])
                continue
            }
            guard let low = bytes.next(), isAlphanumeric(high), isAlphanumeric(low),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16), value != 0
            else { return nil }
            pieces[pieces.count - 1].append(value)
        }
        let texts = pieces.compactMap { String(validating: $0, as: UTF8.self) }
        return texts.count == pieces.count ? texts : nil
    }
}
