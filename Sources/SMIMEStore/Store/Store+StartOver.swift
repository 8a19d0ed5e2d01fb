package import Foundation

extension Store {
    /// Puts the store at `location` aside, so that the next command begins with an empty one. Nothing is destroyed.
    ///
    /// The key goes first: if the data cannot follow, the store has lost its key, and the next attempt takes the rest.
    /// Another process that has the old store open keeps writing to it, and must be ended first.
    ///
    /// - Returns: the new paths of its folders; empty if there was no store.
    /// - Throws: `.busy`, `.cannotCreate`, `.permissions`, `.notWritable`, `.writeFailed`
    package static func startOver(_ location: StoreLocation, at time: Date) async throws(KeystoreError) -> [String] {
        guard location.server == nil else {
            throw .notOnServer(
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
            let stamp = time.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
            for folder in folders {
                let name = "\(folder).old-\(stamp)"
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
