import Foundation

/// The result of restoring a copy.
public struct StoreRestored: Sendable {
    /// The path of the old store; nil if there was none.
    public let kept: String?
    /// Whether the key file must be put back, too, since no private key opens without it.
    public let needsKeyFile: Bool
}

extension Store {
    /// Replaces the store at `location` by a copy that `backup` made, while other processes may use the store.
    ///
    /// They see either the old store or the new one, also after a kill. The old store is kept under another name.
    ///
    /// - Throws: `.malformedBackup` for a copy that is damaged or no store, `.newer` for one, or a store, of a newer
    ///   program, `.foreignCopy`; what opening a store throws, but for damage; `.writeFailed`
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
            let why = "a copy is put back with: smime store copy --to URL"
            throw KeystoreError.notOnServer(path: location.path, why: why)
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
            // SQLite would apply a log left by another database to the restored one.
            for suffix in ["-wal", "-shm"] { unlink(location.database + suffix) }
            try folder.rename(successor, to: location.database)
        }
        _ = consume lock
        return StoreRestored(kept: kept, needsKeyFile: !hasKeyFile)
    }

    /// Completes an interrupted change of the existing store's key file. In a damaged store there is nothing to complete.
    private static func settle(_ location: StoreLocation) throws(KeystoreError) {
        do throws(KeystoreError) { try openNow(location, mode: .readWrite).database.closeUnused() } catch {
            guard case .corrupt = error else { throw error }
        }
    }
}
