import CPostgreSQL

/// A statement as PostgreSQL prepares it: its text with placeholders of its own form, and the types of its arguments.
struct PostgreSQLStatement: Hashable {
    let sql: String
    let types: [Oid]

    init(_ sql: String, _ arguments: SQLArguments) {
        self.sql = sql
        types = arguments.values.map { value in
            switch value {
            // The server finds out what is missing.
            case .null: 0
            case .integer: Oid(INT8OID)
            case .text: Oid(TEXTOID)
            case .blob: Oid(BYTEAOID)
            }
        }
    }

    /// The text with `$1` for `?1`, and for `?` with the next number. No statement of the store has a question mark in a string.
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
