import ByteStreams
import CPostgreSQL

/// The arguments of a statement in PostgreSQL's binary form.
struct PostgreSQLArguments {
    /// All values, concatenated after one unused byte. Without that byte an empty buffer could have a null pointer, which
    /// means NULL.
    private var bytes: [UInt8] = [0]
    /// The range of each value in `bytes`; nil for NULL.
    private var places: [Range<Int>?] = []

    /// - Throws: `SQLError` for a text with a character that PostgreSQL does not support.
    init(_ arguments: SQLArguments) throws {
        for value in arguments.values {
            let start = bytes.count
            switch value {
            case .null:
                places.append(nil)
                continue
            case .integer(let number): bytes += number.bigEndianBytes
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

    /// The arguments in the form that libpq's functions require.
    struct Pointers {
        let count: Int32
        let values: [UnsafePointer<CChar>?]
        let lengths: [Int32]
        /// The format of each argument: always 1, the binary form.
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
