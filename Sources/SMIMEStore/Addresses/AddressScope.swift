package import InternetMessage

/// One email address, or `@domain` for all addresses of a domain.
///
/// Accounts have address scopes as aliases, and recipients' certificates are stored for address scopes. A certificate for
/// a whole domain usually belongs to the domain's gateway.
package struct AddressScope: Hashable, Sendable {
    /// The scope as written.
    package let text: String
    /// The key by which scopes are compared: the address's key, or `@` and the domain with A-labels.
    package let key: String
    /// The address; nil if the scope is a whole domain.
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

    /// The scope of this one address.
    package init(_ address: EmailAddress) {
        text = address.text
        key = address.key
        self.address = address
    }

    /// The scope of the whole domain of `address`.
    package init(domainOf address: EmailAddress) {
        text = "@\(address.domain)"
        key = Self.domainKey(address)
        self.address = nil
    }

    /// Whether the scope is a whole domain.
    package var isDomain: Bool { address == nil }

    /// Whether the scope includes `address`.
    package func contains(_ address: EmailAddress) -> Bool {
        ExactText(key) == ExactText(isDomain ? Self.domainKey(address) : address.key)
    }

    /// The key of the scope for the whole domain of `address`. It never equals the key of an address.
    static func domainKey(_ address: EmailAddress) -> String { "@\(address.asciiDomain)" }

    package static func == (a: Self, b: Self) -> Bool { ExactText(a.key) == ExactText(b.key) }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactText(key)) }
}

extension AddressScope: CustomStringConvertible {
    package var description: String { text }
}
