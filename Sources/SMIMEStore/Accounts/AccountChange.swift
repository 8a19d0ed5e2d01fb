package import PKIX
package import SMIME

/// A change of an account.
package struct AccountChange: Sendable {
    /// Which identity the account prefers to newer ones.
    package enum Pin: Sendable {
        case identity(Fingerprint)
        /// No identity is pinned.
        case none
    }

    /// Which header fields the account's encrypted mail hides.
    package enum Hiding: Sendable {
        case policy(HeaderConfidentiality)
        /// The store's setting applies.
        case standard
    }

    /// The display name; nil leaves it unchanged, an empty string removes it.
    package var name: String?
    /// The aliases to add: addresses, or domains whose addresses all belong to the account.
    package var addedAliases: [AddressScope] = []
    /// The aliases to remove.
    package var removedAliases: [AddressScope] = []
    /// The identity to pin; nil leaves the pins unchanged.
    package var pin: Pin?
    /// Which header fields encrypted mail hides; nil leaves this unchanged.
    package var headerConfidentiality: Hiding?

    package init() {}
}
