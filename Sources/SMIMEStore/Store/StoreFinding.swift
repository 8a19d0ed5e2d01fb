/// Something that a check of the store found.
public struct StoreFinding: Sendable, Equatable {
    /// How bad it is.
    public enum Level: String, Sendable {
        /// Good to know.
        case note
        /// Nothing is lost, but something should be tidied.
        case warning
        /// Broken, or open to others.
        case error
    }

    /// The kind of finding.
    package enum Code: String, Sendable {
        /// What the database says of a certificate or list is not what the certificate or list says.
        case columns
        /// Lists, answers and authorities that came by themselves and are of no more use.
        case ended
        /// A certificate that is not the one that was stored.
        case fingerprint
        /// Pages of the database are damaged.
        case integrity
        /// The store is locked and no passphrase was given, so private keys were not opened.
        case locked
        /// A file or directory is open to others, or not what it seems.
        case permissions
        /// A private key does not open, or does not belong to its certificate.
        case privateKey = "private-key"
        /// A certificate that nothing refers to.
        case orphanCertificate = "orphan-certificate"
        /// A private key that belongs to no account.
        case orphanKey = "orphan-key"
        /// A record refers to one that is missing.
        case reference
        /// A file that an interrupted change left behind.
        case staleFile = "stale-file"
        /// A certificate, a list or an address cannot be read.
        case unreadable
    }

    /// The kind of finding, for scripts.
    package let code: Code
    /// How bad it is.
    public let level: Level
    /// The finding in one sentence, for people.
    public let text: String

    /// Whether it is a certificate that `Store.forgetUnusedCertificates` deletes.
    package let isUnusedCertificate: Bool

    /// Whether `Store.repairRows` removes it or puts it right.
    package var isWrongRow: Bool { level == .warning && (code == .columns || code == .unreadable) }

    init(_ code: Code, _ level: Level, text: String, isUnusedCertificate: Bool = false) {
        self.code = code
        self.level = level
        self.text = text
        self.isUnusedCertificate = isUnusedCertificate
    }
}
