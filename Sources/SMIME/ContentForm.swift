import MIME
import Streams

/// Bytes that can be written as often as needed, each time the same.
struct ContentForm {
    let write: (any ByteSink) throws -> Void

    /// How many bytes that are.
    func count() throws -> Int {
        let sink = CountingSink()
        try write(sink)
        return sink.count
    }

    /// The bytes as base64 text in lines that end in CRLF.
    var base64: ContentForm {
        ContentForm { sink in
            let encoder = Base64Encoder(sink, lineEnd: LineEnd.crlf.bytes)
            try write(encoder)
            try encoder.finish()
        }
    }
}

/// Passes canonical lines on with the line ends of the output.
///
/// What we write holds no binary part, and so no CR that is not one of a line end.
final class LineEndSink: ByteSink {
    private let downstream: any ByteSink
    private let lineEnd: LineEnd
    private let window = Window()

    init(_ downstream: any ByteSink, lineEnd: LineEnd) {
        self.downstream = downstream
        self.lineEnd = lineEnd
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard lineEnd == .lf else { return try downstream.write(bytes) }
        var rest = bytes[...]
        while !rest.isEmpty {
            var count = 0
            for byte in UnsafeRawBufferPointer(rebasing: rest.prefix(window.bytes.count)) where byte != 13 {
                window.bytes[count] = byte
                count += 1
            }
            try downstream.write(window.prefix(count))
            rest = rest.dropFirst(window.bytes.count)
        }
    }
}
