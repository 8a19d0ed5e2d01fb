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
