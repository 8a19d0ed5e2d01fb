public import CMS
public import MIME

/// A further address of an account, or `@domain` for every address of one domain.
public struct AccountAlias: Hashable, Sendable {
    /// The alias as it was written.
    public let text: String
    /// What equal aliases have in common.
    let key: String

    /// Reads `local@domain` or `@domain`.
    ///
    /// - Throws: `MIMEError.malformedAddress`
    public init(_ text: String) throws(MIMEError) {
        self.text = text
        guard text.hasPrefix("@") else {
            key = try EmailAddress(text).key
            return
        }
        key = Self.domainKey(try EmailAddress("postmaster\(text)"))
    }

    /// The key of the alias for the whole domain of `address`; no address has it.
    static func domainKey(_ address: EmailAddress) -> String { "@\(address.asciiDomain)" }

    public static func == (a: Self, b: Self) -> Bool { a.key == b.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// What is to be changed of an account.
public struct AccountChange: Sendable {
    /// Which identity goes before newer ones.
    public enum Pin: Sendable {
        case identity(Fingerprint)
        /// None: the newest is used.
        case none
    }

    /// What people call the account; nil leaves it, an empty text takes it away.
    public var name: String?
    public var addedAliases: [AccountAlias] = []
    public var removedAliases: [AccountAlias] = []
    public var pin: Pin?

    public init() {}
}
