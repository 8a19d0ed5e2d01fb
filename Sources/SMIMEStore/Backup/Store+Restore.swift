import Foundation

/// The result of restoring a copy of a store.
public struct StoreRestored: Sendable {
    /// The path to which the old store was moved; nil if there was no old store.
    public let kept: String?
    /// Whether the key file must be restored, too. Without it no private key can be opened.
    public let needsKeyFile: Bool
}

extension Store {
    /// Replaces the store at `location` by a copy that `backup` created. Other processes may be using the store.
    ///
    /// Other processes see either the old store or the new one, even if this process is killed. The old store stays under
    /// another name.
    ///
    /// - Throws: `.malformedBackup` if the copy is damaged or no store; `.newer` if a newer program wrote the copy or the
    ///   store; `.foreignCopy`; `.writeFailed`; what opening a store throws, except for damage.
    package static func restore(
        _ location: StoreLocation,
        from path: String
    ) async throws(KeystoreError) -> StoreRestored {
        try await onBlockingThread { () throws(KeystoreError) in
            do { return try restoreNow(location, from: path) } catch {
                throw KeystoreError(error, path: location.path)
            }
        }
    }

    private static func restoreNow(_ location: StoreLocation, from path: String) throws -> StoreRestored {
        guard location.server == nil else {
            let why = "`smime store restore` is for stores in files; restore this database with pg_restore"
            throw KeystoreError.notPossible(path: location.path, why: why)
        }
        let copy = try StoreCopy(path)
        let folder = StoreFolder(location: location)
        if try folder.exists() {
            try settle(location)
        } else {
            try folder.create()
        }
        let lock = try StoreLock(location)
        let hasKeyFile = try copy.hasKeyFile(at: location)
        let successor = location.databaseSuccessor
        StoreDatabase.remove(successor)
        try copy.write(to: successor)
        defer { StoreDatabase.remove(successor) }
        var kept: String?
        if try folder.exists() {
            kept = try StoreReplacement(location: location, successor: successor).run()
        } else {
            // SQLite would apply a log of the earlier database to the restored one.
            for suffix in ["-wal", "-shm"] { unlink(location.database + suffix) }
            try folder.rename(successor, to: location.database)
        }
        _ = consume lock
        return StoreRestored(kept: kept, needsKeyFile: !hasKeyFile)
    }

    /// Completes an interrupted change of the existing store's key file. If the store is damaged, nothing is done.
    private static func settle(_ location: StoreLocation) throws(KeystoreError) {
        do throws(KeystoreError) { try openNow(location, mode: .readWrite).database.closeUnused() } catch {
            guard case .corrupt = error else { throw error }
        }
    }
}
