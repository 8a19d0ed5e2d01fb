/// Bytes that can be read once, in order.
///
/// A reader belongs to one task; it is not shared.
package protocol ByteReader: AnyObject {
    /// Reads bytes into the start of `buffer` and returns their number, which is 0 only at the end.
    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int
}

extension ByteReader {
    /// Copies all remaining bytes to `sink`, one window at a time, and returns their number.
    @discardableResult
    package func copy(to sink: any ByteSink) throws -> Int {
        let window = Window()
        var total = 0
        while case let count = try window.fill(from: self), count > 0 {
            try sink.write(window.prefix(count))
            total += count
        }
        return total
    }

    /// All remaining bytes; throws `tooLong()` if there are more than `limit`.
    package func readAll(limit: Int, orThrow tooLong: @autoclosure () -> any Error) throws -> [UInt8] {
        let window = Window()
        var bytes: [UInt8] = []
        while case let count = try window.fill(from: self), count > 0 {
            guard bytes.count + count <= limit else { throw tooLong() }
            bytes.append(contentsOf: window.prefix(count))
        }
        return bytes
    }
}

/// Bytes that can be read from the start repeatedly, each time with a new reader.
///
/// Operations that need two passes over a message, such as verifying before writing, make two readers of one stream.
package struct ByteStream: Sendable {
    private let open: @Sendable () throws -> any ByteReader

    /// A stream whose readers are created by `open`.
    package init(_ open: @escaping @Sendable () throws -> any ByteReader) {
        self.open = open
    }

    /// Creates a reader at the first byte.
    package func makeReader() throws -> any ByteReader { try open() }

    /// The stream without the first `count` bytes.
    package func dropFirst(_ count: Int) -> ByteStream {
        ByteStream {
            let reader = try makeReader()
            let window = Window(size: min(max(count, 1), Window.size))
            var left = count
            while left > 0 {
                let read = try window.fill(0..<min(left, window.count), from: reader)
                guard read > 0 else { break }
                left -= read
            }
            return reader
        }
    }
}

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

/// Reads at most `count` bytes of another reader. The bytes after them stay in that reader.
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

/// Concatenates several readers.
package final class JoinedReader: ByteReader {
    private var readers: ArraySlice<any ByteReader>

    package init(_ readers: [any ByteReader]) { self.readers = readers[...] }

    package func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        while let reader = readers.first {
            let count = try reader.read(into: &buffer)
            if count > 0 { return count }
            readers.removeFirst()
        }
        return 0
    }
}
