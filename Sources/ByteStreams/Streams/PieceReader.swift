/// Limits the number of bytes per read.
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
    /// The same stream with at most `size` bytes per read.
    package func inPieces(of size: Int) -> ByteStream { ByteStream { PieceReader(try makeReader(), size) } }
}
