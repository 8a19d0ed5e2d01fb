import Foundation

/// A finished database that replaces another one, which other processes may be using. Used under `StoreLock`.
///
/// As a rule SQLite replaces the content in one transaction: other processes see the old content or the new, also after a kill. A database
/// that SQLite can no longer read is replaced as a file.
struct StoreReplacement {
    /// How often another process may write between the copy of the old content and its replacement.
    private static let changesSeen = 5
    /// Few enough for every store to take several steps.
    private static let pagesPerStep: CInt = 8

    private struct WasChanged: Error {}

    let location: StoreLocation
    /// The database that is to be there afterwards.
    let successor: String

    /// - Returns: where what was there is kept.
    func run() throws -> String {
        for _ in 0..<Self.changesSeen {
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
        // To SQLite an empty file is an empty database; it has no content to replace.
        if !isEmpty {
            do { return try replaceContent(keeping: kept) } catch let error as SQLError {
                guard Self.isUnreadable(error) else { throw error }
            }
        }
        try keepFiles(as: kept)
        try raiseChangeCounter(above: nil)
        try replaceFile()
    }

    /// Whether a database cannot be read, or has another page size than a store, which SQLite reports as read-only.
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
        // After the first step no other connection can write; later steps may lock out readers, too.
        var isFirst = true
        try source.replaceContent(of: target, pagesPerStep: Self.pagesPerStep) {
            defer { isFirst = false }
            guard try !isFirst || version(of: watch) == seen else { throw WasChanged() }
        }
        // Readers may keep the log for a while.
        target.truncateLog()
        try target.close()
    }

    /// A process that has seen the old counter never sees the same number with other content.
    ///
    /// - Parameter changes: the counter of what is replaced; nil if it cannot be read.
    private func raiseChangeCounter(above changes: Int64?) throws {
        let engine = try SQLiteEngine.openWriter(successor)
        try engine.writeNow { try ChangeCounter.raise(above: changes, in: $0) }
        engine.truncateLog()
        try engine.close()
    }

    /// What becomes another number when others write.
    private func version(of watch: SQLiteEngine) throws -> Int? {
        try watch.readNow { try $0.value("PRAGMA data_version", as: Int.self) }
    }

    /// Puts the file of the new database in the place of a file that no process has open.
    private func replaceFile() throws {
        let descriptor = open(location.database, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw KeystoreError.cannotOpen(path: location.database, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        try lockOutSQLite(descriptor)
        // The log belongs to the old database, and SQLite would apply it to the new one.
        for suffix in ["-wal", "-shm"] { unlink(location.database + suffix) }
        try StoreFolder(location: location).rename(successor, to: location.database)
        // A process that opened the old file and waits for its locks finds no store in it, instead of writing beside the new one.
        ftruncate(descriptor, 0)
    }

    /// Takes all locks of SQLite on the file, which fails while another process uses it (sqlite.org/fileformat2.html, "the
    /// lock-byte page").
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

    /// Copies the files as they are.
    private func keepFiles(as kept: String) throws {
        StoreDatabase.remove(kept)
        for suffix in StoreDatabase.hasLog(location.database) ? ["", "-wal"] : [""] {
            do {
                try FileManager.default.copyItem(atPath: location.database + suffix, toPath: kept + suffix)
                guard chmod(kept + suffix, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            } catch {
                throw KeystoreError.writeFailed(path: kept + suffix, reason: "what is there cannot be kept")
            }
            try StoreFolder.synchronize(kept + suffix)
        }
    }

    /// A name that says when, and is not taken.
    private func freeName() throws -> String {
        let time = Date.now.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
        let names = (1...100).lazy.map { "\(location.database).replaced-\(time)\($0 == 1 ? "" : "-\($0)")" }
        guard let name = names.first(where: { access($0, F_OK) != 0 }) else {
            throw KeystoreError.cannotCreate(path: "\(location.database).replaced-\(time)", code: EEXIST)
        }
        return name
    }
}
