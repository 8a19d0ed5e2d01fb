package import Foundation

extension Store {
    /// Moves the store at `location` aside, so that the next command starts with an empty store. Nothing is deleted.
    ///
    /// The key directory is moved first. If moving the data then fails, the store has no key, and another attempt moves the
    /// data. Processes that have the old store open must be stopped first, because they keep writing to it.
    ///
    /// - Returns: the new paths of the directories; empty if there was no store.
    /// - Throws: `.busy`, `.cannotCreate`, `.permissions`, `.notWritable`, `.writeFailed`
    package static func startOver(_ location: StoreLocation, at time: Date) async throws(KeystoreError) -> [String] {
        guard location.server == nil else {
            throw .notPossible(
                path: location.path,
                why: "name another database, and make a store there: smime store init"
            )
        }
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
