package import Foundation

extension Store {
    /// Writes a consistent copy of the database to a new file. Other processes can read and write meanwhile.
    ///
    /// The file has mode 0600, and is removed if writing fails. The copy does not include the key file.
    ///
    /// - Throws: `.cannotCreate`, also if the file exists already; `.writeFailed`; `.notPossible` for a store on a server
    package func backup(to path: String) async throws(KeystoreError) {
        guard location.server == nil else {
            let why =
                "to copy the store to files: smime --home DIR store copy --from URL; or use pg_dump on the server"
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
        // The engine fills an existing empty file and keeps its mode.
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

extension Store {
    /// Checks that the store at `location` can be moved aside.
    ///
    /// - Throws: `.notPossible` if it is on a server.
    package static func checkStartOver(_ location: StoreLocation) throws(KeystoreError) {
        guard location.server == nil else {
            throw .notPossible(
                path: location.path,
                why: "a store on a server cannot be put aside; make a new one in another database: smime store init"
            )
        }
    }

    /// Moves the store at `location` aside, so that the next command starts with an empty store. Nothing is deleted.
    ///
    /// The key directory is moved first. If moving the data then fails, the store has no key, and another attempt moves the
    /// data. Processes that have the old store open must be stopped first, because they keep writing to it.
    ///
    /// - Returns: the new paths of the directories; empty if there was no store.
    /// - Throws: `.busy`, `.cannotCreate`, `.notPossible`, `.permissions`, `.notWritable`, `.writeFailed`
    package static func startOver(_ location: StoreLocation, at time: Date) async throws(KeystoreError) -> [String] {
        try checkStartOver(location)
        return try await onBlockingThread { () throws(KeystoreError) in
            var status = stat()
            let folders = [location.keyFolder, location.dataFolder].filter { (path: String) in
                lstat(path, &status) == 0
            }
            guard !folders.isEmpty else { return [] }
            let lock = try StoreLock(location)
            var kept: [String] = []
            for folder in folders {
                let name = "\(folder).old-\(time.fileStamp)"
                guard rename(folder, name) == 0 else {
                    throw .writeFailed(path: folder, reason: String(cString: strerror(errno)))
                }
                kept.append(name)
            }
            _ = consume lock
            return kept
        }
    }
}
