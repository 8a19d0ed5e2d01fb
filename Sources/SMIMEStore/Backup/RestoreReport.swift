package import InternetMessage
package import PKIX

/// The result of restoring a backup: what was added, and what stayed because the store has it already.
package struct RestoreReport: Sendable {
    /// An account of the backup.
    package struct Account: Sendable {
        /// The account's main address.
        package let address: EmailAddress
        /// Whether the store did not have it.
        package let isNew: Bool
    }

    /// An identity of the backup.
    package struct Identity: Sendable {
        /// The account that it belongs to.
        package let account: EmailAddress
        /// The certificate, whose private key was restored as well.
        package let certificate: Certificate
        /// Whether the account did not have it.
        package let isNew: Bool
    }

    /// Every account of the backup.
    package internal(set) var accounts: [Account] = []
    /// Every identity of the backup.
    package internal(set) var identities: [Identity] = []
    /// How many certificates were not in the store before.
    package internal(set) var newCertificates = 0
    /// The recipients that were not known with their certificate before.
    package internal(set) var newRecipients = 0
    /// The recipients of which the backup knew more.
    package internal(set) var updatedRecipients = 0
    /// The trust anchors that were none before.
    package internal(set) var newAnchors: [Certificate] = []
    /// The rules that were not there before.
    package internal(set) var newRules: [Policy.Rule] = []
    /// The values of the backup that differ from the store's, which stay.
    package internal(set) var kept: [String] = []

    /// Whether the store is another than before.
    package internal(set) var changesStore = false
}
