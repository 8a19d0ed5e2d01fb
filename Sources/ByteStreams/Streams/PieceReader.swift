/// Limits how much is read at once.
private final class PieceReader: ByteReader {
    private let upstream: any ByteReader
    private let size: Int

    init(_ upstream: any ByteReader, _ size: Int) {
        self.upstream = upstream
        self.size = size
    }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        var piece = buffer.piece(0..<min(size, buffer.count))
        return try upstream.read(into: &piece)
    }
}

extension ByteStream {
    /// The same bytes in reads of at most `size`.
    package func inPieces(of size: Int) -> ByteStream { ByteStream { PieceReader(try makeReader(), size) } }
}
