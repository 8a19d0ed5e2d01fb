import Foundation
import SMIMEStore
import TestSupport
import Testing

/// The engine that the tests of the store run on: SQLite, or with SMIME_TEST_STORE=postgresql PostgreSQL.
enum StoreEngine {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["SMIME_TEST_STORE"] == "postgresql"
    static let hasPostgreSQL = PostgreSQLServer.programs != nil
}

extension Trait where Self == ConditionTrait {
    /// For what SQLite's files alone have: damage, permissions, locks of files.
    static var onSQLite: Self { .disabled(if: StoreEngine.isPostgreSQL, "about the file of SQLite") }

    /// For what a server alone has.
    static var withPostgreSQL: Self { .enabled(if: StoreEngine.hasPostgreSQL, "postgresql is not installed") }
}
