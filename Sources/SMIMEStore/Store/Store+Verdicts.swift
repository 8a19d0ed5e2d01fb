import Foundation

extension Store {
    /// Keeps `verdicts`, if there are at least `fewest`; nothing happens where the store cannot be written just now, or by us.
    ///
    /// One that was opened for looking is opened once more for that.
    func keep(_ verdicts: [NewVerdict], from fewest: Int) async {
        guard exists, !verdicts.isEmpty, verdicts.count >= fewest else { return }
        guard database.isReadOnly else {
            try? await database.write { try NewVerdict.keep(verdicts, in: $0) }
            return
        }
        guard location.server == nil else {
            _ = try? await onBlockingThread { () throws(KeystoreError) in
                do { try self.database.withEngine { try $0.writeNow { try NewVerdict.keep(verdicts, in: $0) } } } catch
                {
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
                try writer.writeNow { try NewVerdict.keep(verdicts, in: $0) }
                // A read-only connection cannot remove the log.
                writer.truncateLog()
                try writer.close()
            } catch { throw KeystoreError(error, path: path) }
        }
    }
}
