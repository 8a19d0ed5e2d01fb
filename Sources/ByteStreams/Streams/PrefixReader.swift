/// The next bytes of a reader, up to a number. What follows stays in the reader.
final class PrefixReader: ByteReader {
    private let upstream: any ByteReader
    private var rest: Int

    init(_ upstream: any ByteReader, count: Int) {
        self.upstream = upstream
        rest = count
    }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        guard rest > 0 else { return 0 }
        var piece = buffer.piece(0..<min(rest, buffer.count))
        let count = try upstream.read(into: &piece)
        rest -= count
        return count
    }
}
