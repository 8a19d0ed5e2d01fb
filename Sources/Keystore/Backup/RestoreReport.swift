public import CMS
public import MIME

/// What a restored backup brought, and what was left as it is because it is here already.
public struct RestoreReport: Sendable {
    /// An account of the backup.
    public struct Account: Sendable {
        public let address: EmailAddress
        public let isNew: Bool
    }

    /// An identity of the backup.
    public struct Identity: Sendable {
        public let account: EmailAddress
        public let certificate: Certificate
        public let isNew: Bool
    }

    public internal(set) var accounts: [Account] = []
    public internal(set) var identities: [Identity] = []
    /// How many certificates were not in the store before.
    public internal(set) var newCertificates = 0
    /// The recipients that were not known with their certificate before.
    public internal(set) var newRecipients = 0
    /// The recipients of which the backup knew more.
    public internal(set) var updatedRecipients = 0
    /// The trust anchors that were none before.
    public internal(set) var newAnchors: [Certificate] = []
    /// The rules that were not there before.
    public internal(set) var newRules: [Policy.Rule] = []
    /// What the backup says otherwise than the store; the store's word stands.
    public internal(set) var kept: [String] = []

    /// Whether the store is another than before.
    public internal(set) var changesStore = false
}
