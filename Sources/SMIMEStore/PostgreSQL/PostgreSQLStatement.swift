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

/// The arguments of one call in PostgreSQL's binary form.
struct PostgreSQLArguments {
    /// All values one after the other, behind one byte: a null pointer stands for NULL, which an empty buffer may have.
    private var bytes: [UInt8] = [0]
    /// Nil for NULL.
    private var places: [Range<Int>?] = []

    /// - Throws: `SQLError` for a text with a character that PostgreSQL has not.
    init(_ arguments: SQLArguments) throws {
        for value in arguments.values {
            let start = bytes.count
            switch value {
            case .null:
                places.append(nil)
                continue
            case .integer(let number): withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
            case .text(let text):
                bytes += text.utf8
                guard !bytes[start...].contains(0) else {
                    throw SQLError(.other, "PostgreSQL stores no text with a NUL")
                }
            case .blob(let blob): bytes += blob
            }
            places.append(start..<bytes.count)
        }
    }

    /// The arguments as the functions of libpq take them.
    struct Pointers {
        let count: Int32
        let values: [UnsafePointer<CChar>?]
        let lengths: [Int32]
        /// 1 for the binary form.
        let formats: [Int32]
    }

    func withPointers<Value>(_ body: (Pointers) throws -> Value) rethrows -> Value {
        try bytes.withUnsafeBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return try body(
                Pointers(
                    count: Int32(truncatingIfNeeded: places.count),
                    values: places.map { place in place.flatMap { start?.advanced(by: $0.lowerBound) } },
                    lengths: places.map { Int32(truncatingIfNeeded: $0?.count ?? 0) },
                    formats: places.map { _ in 1 }
                )
            )
        }
    }
}
