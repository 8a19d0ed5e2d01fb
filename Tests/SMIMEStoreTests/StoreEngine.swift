import Foundation
import SMIMEStore
import TestSupport
import Testing

/// The database engine of the store tests: SQLite, or PostgreSQL if SMIME_TEST_STORE=postgresql. `scripts/test --servers`
/// runs them once more with the latter.
enum StoreEngine {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["SMIME_TEST_STORE"] == "postgresql"
}

extension Trait where Self == ConditionTrait {
    /// For properties of SQLite's files: damage, permissions, file locks.
    static var onSQLite: Self { .disabled(if: StoreEngine.isPostgreSQL, "about the file of SQLite") }

    /// For properties of a store on a server that are tested with the rest of a suite.
    static var onPostgreSQL: Self {
        .enabled(if: StoreEngine.isPostgreSQL, "about a server: scripts/test --servers runs it")
    }
}
