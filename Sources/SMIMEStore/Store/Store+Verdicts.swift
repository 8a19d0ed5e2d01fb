import Foundation

extension Store {
    /// Keeps `verdicts`, if there are at least `fewest`; nothing happens where the store cannot be written just now, or by us,
    /// nor on a server, where no kept verdict is believed.
    func keep(_ verdicts: [NewVerdict], from fewest: Int) async {
        guard location.server == nil, !verdicts.isEmpty, verdicts.count >= fewest else { return }
        // What is remembered of recipients has their verdicts.
        await writeCache(isRemembered: true) { try NewVerdict.keep(verdicts, in: $0) }
    }

    /// Writes what is only a cache; nothing happens where the store cannot be written just now, or by us.
    ///
    /// A store that was opened for looking is opened once more for that.
    ///
    /// - Parameter isRemembered: whether this process remembers what is written.
    func writeCache(
        isRemembered: Bool = false,
        _ body: @escaping @Sendable (SQLDatabase) throws -> Void
    ) async {
        guard exists else { return }
        guard database.isReadOnly else {
            try? await database.write(isCache: !isRemembered, body)
            return
        }
        guard location.server == nil else {
            _ = try? await onBlockingThread { () throws(KeystoreError) in
                do { try self.database.withEngine(isCache: !isRemembered) { try $0.writeNow(body) } } catch {
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
