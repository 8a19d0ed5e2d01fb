import Foundation

/// Replaces a database, which other processes may be using, by a complete new one. The caller holds `StoreLock`.
///
/// Usually SQLite replaces the content in one transaction: other processes see the old content or the new, even if this
/// process is killed. A database that SQLite can no longer read is replaced as a file.
struct StoreReplacement {
    /// The maximum number of attempts. An attempt fails if another process writes after the old content was copied.
    private static let maximumAttempts = 5
    /// Small enough that every store takes several steps, so that a write by another process is noticed before the last one.
    private static let pagesPerStep: CInt = 8

    private struct WasChanged: Error {}

    let location: StoreLocation
    /// The path of the database whose content replaces that of the store.
    let successor: String

    /// Replaces the database.
    ///
    /// - Returns: the path of the copy of the old database.
    func run() throws -> String {
        for _ in 0..<Self.maximumAttempts {
            let kept = try freeName()
            do {
                try replace(keeping: kept)
                return kept
            } catch {
                StoreDatabase.remove(kept)
                if error is WasChanged { continue }
                throw error
            }
        }
        throw KeystoreError.busy(path: location.path)
    }

    private func replace(keeping kept: String) throws {
        var status = stat()
        let isEmpty = lstat(location.database, &status) == 0 && status.st_size == 0
        // SQLite treats an empty file as an empty database, which has no content to copy.
        if !isEmpty {
            do { return try replaceContent(keeping: kept) } catch let error as SQLError {
                guard Self.isUnreadable(error) else { throw error }
            }
        }
        try keepFiles(as: kept)
        try raiseChangeCounter(above: nil)
        try replaceFile()
    }

    /// Whether a database cannot be read, or has another page size than a store. SQLite reports the latter as read-only.
    private static func isUnreadable(_ error: SQLError) -> Bool {
        [.corrupt, .readOnly].contains(error.kind)
    }

    private func replaceContent(keeping kept: String) throws {
        let watch = try SQLiteEngine.openReader(location.database, isFrozen: false)
        let seen = try version(of: watch)
        let changes = try? watch.readNow(ChangeCounter.value)
        do { try watch.writeCopy(to: kept) } catch let error as SQLError where Self.isUnreadable(error) {
            try keepFiles(as: kept)
        }
        try raiseChangeCounter(above: changes)
        let source = try SQLiteEngine.openReader(successor, isFrozen: true)
        let target = try SQLiteEngine.openWriter(location.database)
        // After the first step no other connection can write. Later steps may also block readers.
        var isFirst = true
        try source.replaceContent(of: target, pagesPerStep: Self.pagesPerStep) {
            defer { isFirst = false }
            guard try !isFirst || version(of: watch) == seen else { throw WasChanged() }
        }
        // Readers may delay the truncation of the log.
        target.truncateLog()
        try target.close()
    }

    /// Raises the change counter of the new database, so that no process sees the same counter with other content.
    ///
    /// - Parameter changes: the counter of the old database; nil if it cannot be read.
    private func raiseChangeCounter(above changes: Int64?) throws {
        let engine = try SQLiteEngine.openWriter(successor)
        try engine.writeNow { try ChangeCounter.raise(above: changes, in: $0) }
        engine.truncateLog()
        try engine.close()
    }

    /// A number that changes when another connection writes.
    private func version(of watch: SQLiteEngine) throws -> Int? {
        try watch.readNow { try $0.value("PRAGMA data_version", as: Int.self) }
    }

    /// Replaces the file of the store by that of the new database, after waiting until no other process uses the old file.
    private func replaceFile() throws {
        let descriptor = open(location.database, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw KeystoreError.cannotOpen(path: location.database, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        try lockOutSQLite(descriptor)
        // The log belongs to the old database. SQLite would apply it to the new one.
        for suffix in ["-wal", "-shm"] { unlink(location.database + suffix) }
        try StoreFolder(location: location).rename(successor, to: location.database)
        // A process that has opened the old file and waits for its locks then finds no store in it, and does not write to
        // the old file.
        ftruncate(descriptor, 0)
    }

    /// Takes all of SQLite's locks on the file (sqlite.org/fileformat2.html, "the lock-byte page").
    ///
    /// - Throws: `.busy` if another process uses the file for longer than `SQLiteEngine.timeout`.
    private func lockOutSQLite(_ descriptor: Int32) throws {
        let deadline = Date.now.addingTimeInterval(SQLiteEngine.timeout)
        while true {
            var lock = flock()
            (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
            (lock.l_start, lock.l_len) = (0x4000_0000, 512)
            if fcntl(descriptor, F_SETLK, &lock) == 0 { return }
            guard Date.now < deadline else { throw KeystoreError.busy(path: location.path) }
            usleep(5000)
        }
    }

    /// Copies the database files unchanged.
    private func keepFiles(as kept: String) throws {
        StoreDatabase.remove(kept)
        for suffix in SQLiteEngine.hasLog(location.database) ? ["", "-wal"] : [""] {
            do {
                try FileManager.default.copyItem(atPath: location.database + suffix, toPath: kept + suffix)
                guard chmod(kept + suffix, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            } catch {
                throw KeystoreError.writeFailed(path: kept + suffix, reason: "the old database cannot be copied")
            }
            try StoreFolder.synchronize(kept + suffix)
        }
    }

    /// An unused file name with the current time.
    private func freeName() throws -> String {
        let time = Date.now.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
        let names = (1...100).lazy.map { "\(location.database).replaced-\(time)\($0 == 1 ? "" : "-\($0)")" }
        guard let name = names.first(where: { access($0, F_OK) != 0 }) else {
            throw KeystoreError.cannotCreate(path: "\(location.database).replaced-\(time)", code: EEXIST)
        }
        return name
    }
}
