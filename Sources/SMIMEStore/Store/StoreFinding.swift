/// A finding of a check of the store.
public struct StoreFinding: Sendable, Equatable {
    /// The severity of a finding.
    @nonexhaustive
    public enum Level: String, Sendable {
        /// Information only.
        case note
        /// Nothing is lost, but something should be cleaned up.
        case warning
        /// Something is broken, or accessible to other users.
        case error
    }

    /// The kind of finding.
    package enum Code: String, Sendable {
        /// A database column does not match the certificate or the revocation list.
        case columns
        /// Fetched or learned lists, answers and CA certificates that are no longer needed.
        case ended
        /// A certificate does not match its fingerprint.
        case fingerprint
        /// Pages of the database are damaged.
        case integrity
        /// The store is locked and there was no passphrase, so the private keys were not opened.
        case locked
        /// A file or directory is accessible to other users, or of the wrong kind.
        case permissions
        /// A private key cannot be opened, or does not belong to its certificate.
        case privateKey = "private-key"
        /// Nothing refers to a certificate.
        case orphanCertificate = "orphan-certificate"
        /// A private key belongs to no account.
        case orphanKey = "orphan-key"
        /// A row refers to a missing row.
        case reference
        /// An interrupted change left a file.
        case staleFile = "stale-file"
        /// A certificate, a list or an address cannot be read.
        case unreadable
    }

    /// The kind of finding, for scripts.
    package let code: Code
    /// The severity of the finding.
    public let level: Level
    /// The finding as a sentence for users.
    public let text: String

    /// Whether the finding is an unused certificate, which `Store.forgetUnusedCertificates` deletes.
    package let isUnusedCertificate: Bool

    /// Whether `Store.repairRows` removes or corrects the row.
    package var isWrongRow: Bool { level == .warning && [.columns, .fingerprint, .unreadable].contains(code) }

    init(_ code: Code, _ level: Level, text: String, isUnusedCertificate: Bool = false) {
        self.code = code
        self.level = level
        self.text = text
        self.isUnusedCertificate = isUnusedCertificate
    }
}
