import Foundation
import GRDB

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
        guard access(location.dataFolder, W_OK) == 0, access(location.database, W_OK) == 0 else { return }
        let path = location.database
        try? await onBlockingThread { () throws(KeystoreError) in
            do {
                let writer = try StoreDatabase.openWriter(path, timeout: 0)
                try writer.write { try NewVerdict.keep(verdicts, in: $0) }
                // A read-only process cannot truncate the log.
                _ = try? writer.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                try writer.close()
            } catch { throw KeystoreError(error, path: path) }
        }
    }
}
