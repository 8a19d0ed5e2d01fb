extension Schema {
    /// The tables that ANALYZE creates. They only have statistics for planning queries.
    private static let statistics: Set = [
        "CREATE TABLE sqlite_stat1(tbl,idx,stat)", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ]

    /// One sentence for each difference between a file's tables, indexes, views and triggers and those that the
    /// migrations create. Empty on a server, and for a file with a newer schema version than this program's.
    ///
    /// A trigger that another program added to a file could undo every later change, and a view in place of a table could hide
    /// rows. The statements are compared as texts: a file keeps the text of each statement, and an empty database that the
    /// same migrations create in memory has the same texts.
    static func differences(in database: SQLDatabase) throws -> [String] {
        guard let found = try database.schemaObjects() else { return [] }
        let version = try database.value("PRAGMA user_version", as: Int.self) ?? 0
        // Another process may have migrated the store. This program does not know the newer schema.
        guard version <= current.version else { return [] }
        let model = try SQLiteEngine.inMemory()
        try model.migrate(by: current.numbered.filter { $0.number <= version })
        let expected = try model.readNow { try $0.schemaObjects() } ?? []
        try model.close()
        return differences(between: found.filter { !statistics.contains($0.statement ?? "") }, and: expected)
    }

    private static func differences(between found: [SchemaObject], and expected: [SchemaObject]) -> [String] {
        let foundNames = Set(found.map(\.title))
        let expectedNames = Set(expected.map(\.title))
        let strange = Set(found).subtracting(expected).map {
            expectedNames.contains($0.title)
                ? "the \($0.title) is not as smime created it" : "the \($0.title) is not part of a store"
        }
        let missing = expected.map(\.title).filter { !foundNames.contains($0) }.map { "the \($0) is missing" }
        return (strange + missing).sorted()
    }
}

extension SchemaObject {
    /// The kind and the name, for a sentence. The writer of the file chose the name, so it is shortened.
    fileprivate var title: String { "\(kind.prefix(20)) \(name.prefix(100))".filter { !$0.isNewline } }
}
