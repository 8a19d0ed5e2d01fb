import Foundation
import SMIMEStore
import TestSupport
import Testing

/// The database engine of the store tests: SQLite, or PostgreSQL if SMIME_TEST_STORE=postgresql.
enum StoreEngine {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["SMIME_TEST_STORE"] == "postgresql"
    static let hasPostgreSQL = PostgreSQLServer.programs != nil
}

extension Trait where Self == ConditionTrait {
    /// For properties of SQLite's files: damage, permissions, file locks.
    static var onSQLite: Self { .disabled(if: StoreEngine.isPostgreSQL, "about the file of SQLite") }

    /// For properties that only a server has.
    static var withPostgreSQL: Self { .enabled(if: StoreEngine.hasPostgreSQL, "postgresql is not installed") }
}
