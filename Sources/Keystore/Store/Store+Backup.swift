import Foundation
import GRDB

extension Store {
    /// Writes a copy of the database as it is at one moment, while others go on reading and writing.
    ///
    /// The file appears whole or not at all, mode 0600. The key file is not part of it.
    ///
    /// - Throws: `.cannotCreate`, `.writeFailed`
    public func backup(to path: String) async throws(KeystoreError) {
        let (database, location) = (database, location)
        try await onBlockingThread { () throws(KeystoreError) in
            let target = Self.resolved(path)
            let temporary = "\(target).\(UUID().uuidString.prefix(8)).tmp"
            do {
                try database.withWriter { try $0.writeCopy(to: temporary) }
                try StoreFolder(location: location).rename(temporary, to: target)
            } catch {
                unlink(temporary)
                throw Self.error(error, target)
            }
        }
    }

    /// A failure while a copy is written is one of the copy.
    private static func error(_ error: any Error, _ path: String) -> KeystoreError {
        guard let error = error as? DatabaseError, [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
        else {
            return KeystoreError(error, path: path)
        }
        return .writeFailed(path: path, reason: error.message ?? "cannot write")
    }

    /// Where a symbolic link leads, so that the copy takes the place of the file and not of the link.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

extension DatabaseWriter {
    /// Writes the database as it is at one moment to a new file, mode 0600, and to the disk. What was begun is removed
    /// where that fails.
    func writeCopy(to path: String) throws {
        // SQLite fills an empty file, whose mode stays.
        Foundation.close(try StoreFolder.createPrivate(path))
        do {
            try vacuum(into: path)
            try StoreFolder.synchronize(path)
        } catch {
            for suffix in ["", "-journal"] { unlink(path + suffix) }
            throw error
        }
    }
}
