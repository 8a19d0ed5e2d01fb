import ByteStreams
import CPostgreSQL

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
