package import Foundation

/// The result of checking a store, including what was removed.
public struct StoreCheck: Sendable {
    /// What a check may remove. Private keys and files are never removed.
    @nonexhaustive
    public enum Cleaning: Sendable {
        /// Nothing is removed or changed.
        case nothing
        /// Fetched and learned data that is no longer needed.
        case ended
        /// In addition to `ended`: certificates to which nothing refers, and learned or fetched rows that cannot be read.
        /// Columns that do not match their certificate are corrected.
        case unused
    }

    /// The problems of the store, the worst first. None has the level `.error` if the store is sound.
    public let findings: [StoreFinding]
    /// The fetched and learned data that was no longer needed. Unless `Cleaning.nothing` was requested, the data was
    /// removed.
    public let ended: [StoreFinding]
    /// The number of removed certificates to which nothing referred; nil if removing them was not requested.
    package let forgotten: Int?
    /// The number of rows that were removed because they could not be read, or corrected; nil if this was not requested.
    package let repaired: Int?
    /// The kind of protection of the private keys; nil if the store was not opened, because of the permissions or the
    /// kind of its files.
    package let protection: Protection?

    /// Checks the store at `location`, and removes unneeded data. Nothing is removed from a damaged store.
    ///
    /// - Parameters:
    ///   - openForReading: opens the store for reading. With a passphrase source, the private keys are checked.
    ///   - openForWriting: opens the store for writing. Called only if there is something to remove.
    /// - Throws: what opening, reading and repairing throws. If the user may not write the store, this is an error only if
    ///   there is something to repair; data that is no longer needed stays.
    package static func run(
        of location: StoreLocation,
        cleaning: Cleaning,
        at time: Date,
        openForReading: () async throws -> Store,
        openForWriting: () async throws -> Store
    ) async throws -> StoreCheck {
        func examine() async throws -> ([StoreFinding], Protection?) {
            let store = try await openForReading()
            let result = (try await store.check(), try await store.protection())
            try await store.close()
            return result
        }
        let loose = Store.looseFiles(of: location)
        var (findings, protection) = loose.isEmpty ? try await examine() : (loose, nil)
        let isDamaged = findings.contains { $0.level == .error }
        let ended =
            isDamaged
            ? []
            : try await forgetEnded(cleaning, at: time, openForReading: openForReading, openForWriting: openForWriting)
        guard cleaning == .unused else {
            return StoreCheck(findings: findings, ended: ended, forgotten: nil, repaired: nil, protection: protection)
        }
        guard !isDamaged else {
            return StoreCheck(findings: findings, ended: ended, forgotten: 0, repaired: 0, protection: protection)
        }
        let (forgotten, repaired) = try await repair(findings, openForWriting)
        (findings, protection) = try await examine()
        return StoreCheck(
            findings: findings,
            ended: ended,
            forgotten: forgotten,
            repaired: repaired,
            protection: protection
        )
    }

    private static func forgetEnded(
        _ cleaning: Cleaning,
        at time: Date,
        openForReading: () async throws -> Store,
        openForWriting: () async throws -> Store
    ) async throws -> [StoreFinding] {
        let reader = try await openForReading()
        let found = try await reader.untidied(at: time)
        try await reader.close()
        guard !found.isEmpty, cleaning != .nothing else { return found }
        do {
            let store = try await openForWriting()
            let forgotten = try await store.tidy(at: time)
            try await store.close()
            return forgotten
        } catch KeystoreError.notWritable {
            return []
        }
    }

    private static func repair(
        _ findings: [StoreFinding],
        _ openForWriting: () async throws -> Store
    ) async throws -> (forgotten: Int, repaired: Int) {
        let (areUnused, areWrong) = (
            findings.contains(where: \.isUnusedCertificate), findings.contains(where: \.isWrongRow)
        )
        guard areUnused || areWrong else { return (0, 0) }
        let store = try await openForWriting()
        let forgotten = areUnused ? try await store.forgetUnusedCertificates() : 0
        let repaired = areWrong ? try await store.repairRows() : 0
        try await store.close()
        return (forgotten, repaired)
    }
}

/// A result of `Store.check`, `Store.looseFiles`, `Store.tidy` or `Store.untidied`.
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
        /// Fetched or learned revocation lists, OCSP responses and CA certificates that are no longer needed.
        case ended
        /// A certificate does not match its fingerprint.
        case fingerprint
        /// Pages of the database are damaged, policy rules were lost or changed, or tables, views or triggers are not those
        /// that smime creates.
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
        /// A certificate, a list, the address of an account or alias, or the address, source or trust of a recipient cannot be
        /// read.
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
