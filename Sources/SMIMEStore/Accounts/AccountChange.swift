public import PKIX
public import SMIME

/// What is to be changed of an account.
public struct AccountChange: Sendable {
    /// Which identity goes before newer ones.
    public enum Pin: Sendable {
        case identity(Fingerprint)
        /// None: the newest is used.
        case none
    }

    /// What encrypted mail hides of its header.
    public enum Hiding: Sendable {
        case policy(HeaderConfidentiality)
        /// What the store's setting says.
        case standard
    }

    /// What people call the account; nil leaves it, an empty text takes it away.
    public var name: String?
    /// Further addresses, or domains all of whose addresses are the account's.
    public var addedAliases: [AddressScope] = []
    /// Those that are not the account's any more.
    public var removedAliases: [AddressScope] = []
    /// Which identity goes before newer ones; nil leaves it.
    public var pin: Pin?
    /// What of the header of its encrypted mail is hidden; nil leaves it.
    public var headerConfidentiality: Hiding?

    public init() {}
}
