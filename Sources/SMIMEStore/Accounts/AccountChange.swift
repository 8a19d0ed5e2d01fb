package import PKIX
package import SMIME

/// A change of an account.
package struct AccountChange: Sendable {
    /// Which identity goes before newer ones.
    package enum Pin: Sendable {
        case identity(Fingerprint)
        /// None: the newest is used.
        case none
    }

    /// What encrypted mail hides of its header.
    package enum Hiding: Sendable {
        case policy(HeaderConfidentiality)
        /// The store's setting.
        case standard
    }

    /// The display name; nil leaves it unchanged, an empty text removes it.
    package var name: String?
    /// Further addresses, or domains all of whose addresses are the account's.
    package var addedAliases: [AddressScope] = []
    /// The aliases to remove.
    package var removedAliases: [AddressScope] = []
    /// Which identity goes before newer ones; nil leaves it.
    package var pin: Pin?
    /// What encrypted mail hides of its header; nil leaves it unchanged.
    package var headerConfidentiality: Hiding?

    package init() {}
}
