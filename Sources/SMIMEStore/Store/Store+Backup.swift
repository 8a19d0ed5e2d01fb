import Foundation

extension Store {
    /// Writes a consistent copy of the database to a new file. Other processes can read and write meanwhile.
    ///
    /// The file has mode 0600, and is removed if writing fails. The copy does not include the key file.
    ///
    /// - Throws: `.cannotCreate`, also if the file exists already; `.writeFailed`
    package func backup(to path: String) async throws(KeystoreError) {
        guard location.server == nil else {
            let why =
                "a file with everything is made by: smime --home DIR store copy --from URL; or use pg_dump on the server"
            throw .notPossible(path: location.path, why: why)
        }
        let database = database
        try await onBlockingThread { () throws(KeystoreError) in
            do { try database.withEngine { try $0.writeCopy(to: path) } } catch { throw Self.error(error, path) }
        }
    }

    /// The error for a failure that may be caused by the copy's file.
    private static func error(_ error: any Error, _ path: String) -> KeystoreError {
        guard let error = error as? SQLError, [.cannotOpen, .readOnly].contains(error.kind)
        else {
            return KeystoreError(error, path: path)
        }
        return .writeFailed(path: path, reason: error.message)
    }
}

extension SQLEngine {
    /// Writes a consistent copy of the database durably to a new file with mode 0600. Removes the file if this fails.
    func writeCopy(to path: String) throws {
        // The engine fills an existing empty file, whose mode stays.
        Foundation.close(try StoreFolder.createPrivate(path))
        do {
            try copy(to: path)
            try StoreFolder.synchronize(path)
        } catch {
            for suffix in ["", "-journal"] { unlink(path + suffix) }
            throw error
        }
    }
}
