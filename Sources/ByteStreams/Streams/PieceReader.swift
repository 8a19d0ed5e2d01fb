/// Limits how much is read at once.
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
    /// The same bytes in reads of at most `size`.
    package func inPieces(of size: Int) -> ByteStream { ByteStream { PieceReader(try makeReader(), size) } }
}
