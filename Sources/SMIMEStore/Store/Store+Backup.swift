import Foundation

extension Store {
    /// Writes a copy of the database as it is at one moment to a new file, while others go on reading and writing.
    ///
    /// The file has mode 0600, and is removed again where that fails. The key file is not part of it.
    ///
    /// - Throws: `.cannotCreate`, also where there is such a file already; `.writeFailed`
    package func backup(to path: String) async throws(KeystoreError) {
        guard location.server == nil else {
            let why =
                "a file with everything is made by: smime --home DIR store copy --from URL; or use pg_dump on the server"
            throw .notOnServer(path: location.path, why: why)
        }
        let database = database
        try await onBlockingThread { () throws(KeystoreError) in
            do { try database.withEngine { try $0.writeCopy(to: path) } } catch { throw Self.error(error, path) }
        }
    }

    /// A failure while a copy is written is one of the copy.
    private static func error(_ error: any Error, _ path: String) -> KeystoreError {
        guard let error = error as? SQLError, [.cannotOpen, .readOnly].contains(error.kind)
        else {
            return KeystoreError(error, path: path)
        }
        return .writeFailed(path: path, reason: error.message)
    }
}

extension SQLEngine {
    /// Writes the database as it is at one moment to a new file, mode 0600, and to the disk. What was begun is removed
    /// where that fails.
    func writeCopy(to path: String) throws {
        // The engine fills an empty file, whose mode stays.
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
