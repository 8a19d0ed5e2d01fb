import Foundation

extension Store {
    /// Stores `verdicts`, if there are at least `fewest`. Does nothing if the store cannot be written now or by this user,
    /// or is on a server, where stored verdicts are not used.
    func keep(_ verdicts: [NewVerdict], from fewest: Int) async {
        guard location.server == nil, !verdicts.isEmpty, verdicts.count >= fewest else { return }
        // Cached recipients contain their verdicts.
        await writeCache(isCached: true) { try NewVerdict.keep(verdicts, in: $0) }
    }

    /// Writes data to a cache in the database. Does nothing if the store cannot be written now or by this user.
    ///
    /// A store that was opened for reading is opened again for writing.
    ///
    /// - Parameter isCached: whether the memory cache of this process contains the written data.
    func writeCache(
        isCached: Bool = false,
        _ body: @escaping @Sendable (SQLDatabase) throws -> Void
    ) async {
        guard exists else { return }
        guard database.isReadOnly else {
            try? await database.write(isCache: !isCached, body)
            return
        }
        guard location.server == nil else {
            _ = try? await onBlockingThread { () throws(KeystoreError) in
                do { try self.database.withEngine(isCache: !isCached) { try $0.writeNow(body) } } catch {
                    throw KeystoreError(error, path: self.location.path)
                }
            }
            return
        }
        guard access(location.dataFolder, W_OK) == 0, access(location.database, W_OK) == 0 else { return }
        let path = location.database
        try? await onBlockingThread { () throws(KeystoreError) in
            do {
                let writer = try SQLiteEngine.openWriter(path, timeout: 0)
                try writer.writeNow(body)
                // A read-only connection cannot remove the log.
                writer.truncateLog()
                try writer.close()
            } catch { throw KeystoreError(error, path: path) }
        }
    }
}
