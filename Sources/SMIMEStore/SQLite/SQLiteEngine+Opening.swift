import Foundation
import GRDB

extension SQLiteEngine {
    /// How long to wait for another writer, in seconds.
    static let timeout = 10.0

    /// A new database in memory.
    static func inMemory() throws -> SQLiteEngine {
        try SQLError.translating { SQLiteEngine(try DatabaseQueue(configuration: configuration(readOnly: false))) }
    }

    /// Opens a database for concurrent readers and one writer at a time.
    static func openPool(_ path: String) throws -> SQLiteEngine {
        try SQLError.translating {
            let pool = try DatabasePool(path: path, configuration: configuration(readOnly: false))
            // GRDB sets this to NORMAL, with which a power failure may lose the last commits.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return SQLiteEngine(pool, path: path)
        }
    }

    /// Opens a database for writing, whatever its content is.
    ///
    /// - Parameter timeout: how long to wait for other writers, in seconds.
    static func openWriter(_ path: String, timeout: Double = timeout) throws -> SQLiteEngine {
        try SQLError.translating {
            SQLiteEngine(try DatabaseQueue(path: path, configuration: configuration(readOnly: false, timeout: timeout)))
        }
    }

    /// Opens a database for reading only.
    ///
    /// - Parameter isFrozen: whether it is certain that no process is writing. Only then can SQLite read without creating
    ///   files beside the database.
    static func openReader(_ path: String, isFrozen: Bool) throws -> SQLiteEngine {
        let configuration = configuration(readOnly: true)
        return try SQLError.translating {
            guard !isFrozen else {
                return SQLiteEngine(try DatabaseQueue(path: immutablePath(path), configuration: configuration))
            }
            return SQLiteEngine(try DatabaseQueue(path: path, configuration: configuration), path: path)
        }
    }

    /// A URI for SQLite (sqlite.org/uri.html) that opens the file at `path` as immutable.
    private static func immutablePath(_ path: String) -> String {
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%;"))
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)?immutable=1"
    }

    private static func configuration(readOnly: Bool, timeout: Double = timeout) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(timeout)
        configuration.label = "smime store"
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        guard !readOnly else {
            configuration.foreignKeysEnabled = false
            return configuration
        }
        // Deleted data and replaced sealed keys must not stay in free pages.
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA synchronous = FULL")
            try $0.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}
