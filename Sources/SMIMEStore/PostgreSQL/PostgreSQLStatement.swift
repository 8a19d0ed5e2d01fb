import CPostgreSQL

/// A statement as PostgreSQL prepares it: the SQL text with PostgreSQL's placeholders, and the types of the arguments.
struct PostgreSQLStatement: Hashable {
    let sql: String
    let types: [Oid]

    init(_ sql: String, _ arguments: SQLArguments) {
        self.sql = sql
        types = arguments.values.map { value in
            switch value {
            // The server infers the type.
            case .null: 0
            case .integer: Oid(INT8OID)
            case .text: Oid(TEXTOID)
            case .blob: Oid(BYTEAOID)
            }
        }
    }

    /// The SQL text with `$1` instead of `?1`, and with the next number instead of `?`. No string in the store's statements
    /// contains a question mark.
    var text: String {
        var text = ""
        var count = 0
        var rest = Substring(sql)
        while let index = rest.firstIndex(of: "?") {
            text += rest[..<index] + "$"
            rest = rest[rest.index(after: index)...]
            if rest.first?.isNumber != true {
                count += 1
                text += "\(count)"
            }
        }
        return text + rest
    }
}
