/// Limits the number of bytes per read.
private final class PieceReader: ByteReader {
    private let upstream: any ByteReader
    private let size: Int

    init(_ upstream: any ByteReader, _ size: Int) {
        self.upstream = upstream
        self.size = size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try upstream.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(size)))
    }
}

extension ByteStream {
    /// The same bytes, with at most `size` bytes per read.
    package func inPieces(of size: Int) -> ByteStream { ByteStream { PieceReader(try makeReader(), size) } }
}
