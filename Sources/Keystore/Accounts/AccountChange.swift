public import CMS
public import MIME

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
    public var addedAliases: [AddressScope] = []
    public var removedAliases: [AddressScope] = []
    public var pin: Pin?
    public var headerConfidentiality: Hiding?

    public init() {}
}
