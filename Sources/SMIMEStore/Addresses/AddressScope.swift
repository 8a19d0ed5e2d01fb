package import InternetMessage

/// One address, or `@domain` for every address of one domain.
///
/// Accounts have them as aliases; certificates are kept for them, a whole domain having the one of its gateway.
package struct AddressScope: Hashable, Sendable {
    /// The scope as it was written.
    package let text: String
    /// A key that equal scopes share: the address's key, or `@` and the domain with A-labels.
    package let key: String
    /// The address; nil for a whole domain.
    package let address: EmailAddress?

    /// Reads `local@domain` or `@domain`, also written `*@domain`.
    ///
    /// - Throws: `MIMEError.malformedAddress`
    package init(_ written: String) throws(MIMEError) {
        let text = written.hasPrefix("*@") ? String(written.dropFirst()) : written
        if text.hasPrefix("@") {
            self.init(domainOf: try EmailAddress("postmaster\(text)"))
        } else {
            self.init(try EmailAddress(text))
        }
    }

    /// The one address.
    package init(_ address: EmailAddress) {
        text = address.text
        key = address.key
        self.address = address
    }

    /// The whole domain of `address`.
    package init(domainOf address: EmailAddress) {
        text = "@\(address.domain)"
        key = Self.domainKey(address)
        self.address = nil
    }

    /// Whether it is all addresses of a domain.
    package var isDomain: Bool { address == nil }

    /// Whether `address` is in it.
    package func contains(_ address: EmailAddress) -> Bool {
        isDomain ? key == Self.domainKey(address) : key == address.key
    }

    /// The key of the scope for the whole domain of `address`; no address has it.
    static func domainKey(_ address: EmailAddress) -> String { "@\(address.asciiDomain)" }

    package static func == (a: Self, b: Self) -> Bool { a.key.utf8.elementsEqual(b.key.utf8) }

    package func hash(into hasher: inout Hasher) { for byte in key.utf8 { hasher.combine(byte) } }
}

extension AddressScope: CustomStringConvertible {
    package var description: String { text }
}
