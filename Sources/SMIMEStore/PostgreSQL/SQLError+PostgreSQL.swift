extension SQLError {
    /// - Parameters:
    ///   - state: the error code (`SQLSTATE`); nil if libpq reports the error.
    ///   - isConnected: whether the connection still exists.
    /// Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
    init(state: String?, message: String?, isConnected: Bool) {
        // libpq repeats its sentences if it tries a server more than once.
        var lines: [String] = []
        for line in (message ?? "no answer").split(whereSeparator: \.isNewline) {
            let line = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !lines.contains(line) { lines.append(line) }
        }
        // PostgreSQL gives the same answer for a table that is gone and for one in a schema that the role may not use.
        if state == "42P01" { lines.append("(or the database role has no USAGE on the table's schema)") }
        let text = lines.joined(separator: " ")
        self.init(isConnected ? Self.kind(state ?? "") : .disconnected, text)
    }

    private static func kind(_ state: String) -> Kind {
        switch state {
        // A concurrent transaction made the same change, such as inserting a certificate that was missing for both.
        case "40001", "40P01", "23505": .conflict
        case "55P03", "57014", "53300": .busy
        case "25006": .readOnly
        case "42501": .forbidden
        case "53200": .denied
        case "42P01", "42703", "3F000", "42883": .mismatch
        case _ where state.hasPrefix("08") || state.hasPrefix("57P"): .disconnected
        case _ where state.hasPrefix("28") || state.hasPrefix("3D"): .cannotOpen
        case _ where state.hasPrefix("53") || state.hasPrefix("58"): .writeFailed
        case _ where state.hasPrefix("XX"): .corrupt
        default: .other
        }
    }
}
