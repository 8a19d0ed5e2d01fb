package import Foundation

/// What a check of a store found, and what it removed.
public struct StoreCheck: Sendable {
    /// What a check may remove. No key and no file ever is.
    public enum Cleaning: Sendable {
        /// Nothing: the store stays as it is.
        case nothing
        /// Fetched and learned data that is no longer of use.
        case ended
        /// That, certificates that nothing refers to, and learned or fetched rows that cannot be read; what the database says of
        /// certificates is put right.
        case unused
    }

    /// What is wrong with the store, the worst first; nothing for a sound one.
    public let findings: [StoreFinding]
    /// Fetched and learned data that was no longer of use. It was removed, unless the check was not to remove anything.
    public let ended: [StoreFinding]
    /// How many certificates that nothing referred to were removed; nil if that was not asked for.
    package let forgotten: Int?
    /// How many rows that could not be read were removed, or were put right; nil if that was not asked for.
    package let repaired: Int?
    /// What protects the private keys; nil if the store could not be opened.
    package let protection: Protection?

    /// Checks the store at `location`, and removes what may be removed. From a damaged store nothing is removed.
    ///
    /// - Parameters:
    ///   - reading: opens the store for reading; the private keys are checked if it gets a passphrase.
    ///   - writing: opens the store for writing; called only if there is something to remove.
    /// - Throws: what opening and reading throws; a store that cannot be written is merely not cleaned of what has ended.
    package static func run(
        of location: StoreLocation,
        cleaning: Cleaning,
        at time: Date,
        reading: () async throws -> Store,
        writing: () async throws -> Store
    ) async throws -> StoreCheck {
        func examine() async throws -> ([StoreFinding], Protection?) {
            let store = try await reading()
            let result = (try await store.check(), try await store.protection())
            try await store.close()
            return result
        }
        let loose = Store.looseFiles(of: location)
        var (findings, protection) = loose.isEmpty ? try await examine() : (loose, nil)
        let isDamaged = findings.contains { $0.level == .error }
        let ended = isDamaged ? [] : try await forgetEnded(cleaning, at: time, reading: reading, writing: writing)
        guard cleaning == .unused else {
            return StoreCheck(findings: findings, ended: ended, forgotten: nil, repaired: nil, protection: protection)
        }
        guard !isDamaged else {
            return StoreCheck(findings: findings, ended: ended, forgotten: 0, repaired: 0, protection: protection)
        }
        let (forgotten, repaired) = try await repair(findings, writing)
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
        reading: () async throws -> Store,
        writing: () async throws -> Store
    ) async throws -> [StoreFinding] {
        let reader = try await reading()
        let found = try await reader.untidied(at: time)
        try await reader.close()
        guard !found.isEmpty, cleaning != .nothing else { return found }
        do {
            let store = try await writing()
            let forgotten = try await store.tidy(at: time)
            try await store.close()
            return forgotten
        } catch KeystoreError.notWritable {
            return []
        }
    }

    private static func repair(
        _ findings: [StoreFinding],
        _ writing: () async throws -> Store
    ) async throws -> (forgotten: Int, repaired: Int) {
        let (areUnused, areWrong) = (
            findings.contains(where: \.isUnusedCertificate), findings.contains(where: \.isWrongRow)
        )
        guard areUnused || areWrong else { return (0, 0) }
        let store = try await writing()
        let forgotten = areUnused ? try await store.forgetUnusedCertificates() : 0
        let repaired = areWrong ? try await store.repairRows() : 0
        try await store.close()
        return (forgotten, repaired)
    }
}
