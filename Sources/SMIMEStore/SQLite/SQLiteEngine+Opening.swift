import Foundation
import GRDB

extension SQLiteEngine {
    /// How long one waits for another writer, in seconds.
    static let timeout = 10.0

    /// A new database that lives in memory.
    static func inMemory() throws -> SQLiteEngine {
        try SQLError.translating { SQLiteEngine(try DatabaseQueue(configuration: configuration(readOnly: false))) }
    }

    /// Opens a database for any number of readers and a writer at the same time.
    static func openPool(_ path: String) throws -> SQLiteEngine {
        try SQLError.translating {
            let pool = try DatabasePool(path: path, configuration: configuration(readOnly: false))
            // GRDB lowers it to NORMAL, which may lose the last commits with the power.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return SQLiteEngine(pool, path: path)
        }
    }

    /// Opens a database for writing, whatever is in it.
    ///
    /// - Parameter timeout: how long to wait for others, in seconds.
    static func openWriter(_ path: String, timeout: Double = timeout) throws -> SQLiteEngine {
        try SQLError.translating {
            SQLiteEngine(try DatabaseQueue(path: path, configuration: configuration(readOnly: false, timeout: timeout)))
        }
    }

    /// Opens a database for reading alone.
    ///
    /// - Parameter isFrozen: whether no process can be writing. Only then can SQLite read without the files it would have to
    ///   make beside it.
    static func openReader(_ path: String, isFrozen: Bool) throws -> SQLiteEngine {
        let configuration = configuration(readOnly: true)
        return try SQLError.translating {
            guard !isFrozen else {
                return SQLiteEngine(try DatabaseQueue(path: immutablePath(path), configuration: configuration))
            }
            return SQLiteEngine(try DatabaseQueue(path: path, configuration: configuration), path: path)
        }
    }

    /// A URI for SQLite (sqlite.org/uri.html).
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
        // What is deleted or sealed anew does not stay in free pages.
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA synchronous = FULL")
            try $0.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}
