package import PKIX
package import SMIME

/// What is to be changed of an account.
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
        /// What the store's setting says.
        case standard
    }

    /// What people call the account; nil leaves it, an empty text takes it away.
    package var name: String?
    /// Further addresses, or domains all of whose addresses are the account's.
    package var addedAliases: [AddressScope] = []
    /// Those that are not the account's any more.
    package var removedAliases: [AddressScope] = []
    /// Which identity goes before newer ones; nil leaves it.
    package var pin: Pin?
    /// What of the header of its encrypted mail is hidden; nil leaves it.
    package var headerConfidentiality: Hiding?

    package init() {}
}
