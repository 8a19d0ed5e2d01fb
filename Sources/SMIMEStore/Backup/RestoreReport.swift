package import InternetMessage
package import PKIX

/// The result of restoring a backup: what was added, and where the store's values stayed.
package struct RestoreReport: Sendable {
    /// An account in the backup.
    package struct Account: Sendable {
        /// The account's main address.
        package let address: EmailAddress
        /// Whether the store did not have the account before.
        package let isNew: Bool
    }

    /// An identity in the backup.
    package struct Identity: Sendable {
        /// The account of the identity.
        package let account: EmailAddress
        /// The certificate. Its private key was restored as well.
        package let certificate: Certificate
        /// Whether the account did not have the identity before.
        package let isNew: Bool
    }

    /// An alias of an account in the backup.
    package struct Alias: Sendable {
        /// The main address of the account.
        package let account: EmailAddress
        /// The alias.
        package let alias: AddressScope
    }

    /// A user's decision about a recipient's certificate.
    package struct Decision: Sendable {
        /// The address or `@domain` of the recipient.
        package let address: String
        /// The certificate that was pinned or distrusted.
        package let certificate: Certificate
        /// `pinned` or `distrusted`.
        package let trust: KnownRecipient.Trust
    }

    /// All accounts in the backup.
    package internal(set) var accounts: [Account] = []
    /// All identities in the backup.
    package internal(set) var identities: [Identity] = []
    /// The number of certificates that were not in the store before.
    package internal(set) var newCertificates = 0
    /// The number of recipients that were not known with this certificate before.
    package internal(set) var newRecipients = 0
    /// The number of known recipients for which the backup had additional data.
    package internal(set) var updatedRecipients = 0
    /// The certificates that were no trust anchors before.
    package internal(set) var newAnchors: [Certificate] = []
    /// The aliases that the accounts did not have before.
    package internal(set) var newAliases: [Alias] = []
    /// The decisions about recipients that the store did not have before.
    package internal(set) var newDecisions: [Decision] = []
    /// The rules that the store did not have before.
    package internal(set) var newRules: [Policy.Rule] = []
    /// One sentence for each alias that another account has, and for each policy rule that differs from the store's. The
    /// store's values stay.
    package internal(set) var kept: [String] = []

    /// Whether the store was changed.
    package internal(set) var changesStore = false
}
