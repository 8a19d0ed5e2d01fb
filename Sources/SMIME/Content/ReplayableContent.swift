import ByteStreams
import CMSSyntax
import InternetMessage
import LibCrypto

/// Bytes that can be written as often as needed, each time the same.
struct ReplayableContent {
    let write: (any ByteSink) throws -> Void
    /// The digest and the number of the bytes, if they were computed in the pass that found their form.
    var digest: (algorithm: DigestAlgorithm, value: [UInt8], count: Int)?
    /// How many bytes there are, if that is known without writing them.
    private let knownCount: Int?

    init(
        digest: (algorithm: DigestAlgorithm, value: [UInt8], count: Int)? = nil,
        count: Int? = nil,
        _ write: @escaping (any ByteSink) throws -> Void
    ) {
        self.write = write
        self.digest = digest
        knownCount = count
    }

    /// The digest of the bytes, and how many they are.
    func digest(_ algorithm: DigestAlgorithm) throws -> (value: [UInt8], count: Int) {
        if let digest, digest.algorithm == algorithm { return (digest.value, digest.count) }
        return try SignedDataWriter.digest(algorithm, of: write)
    }

    /// How many bytes that are.
    func count() throws -> Int {
        if let knownCount { return knownCount }
        let sink = CountingSink()
        try write(sink)
        return sink.count
    }

    /// The bytes as base64 text in lines that end in CRLF.
    var base64: ReplayableContent {
        ReplayableContent { sink in
            let encoder = Base64Encoder(sink, lineEnd: LineEnd.crlf.bytes)
            try write(encoder)
            try encoder.finish()
        }
    }
}

/// Passes canonical lines on with the line ends of the output.
///
/// What we write ends with a line end, so no carriage return is left over.
final class LineEndSink: ByteSink {
    private let downstream: any ByteSink
    private let lineEnd: LineEnd
    private lazy var window = Window()
    /// Whether a carriage return was met that may belong to a line end; any other stays what it is.
    private var owesReturn = false

    init(_ downstream: any ByteSink, lineEnd: LineEnd) {
        self.downstream = downstream
        self.lineEnd = lineEnd
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard lineEnd == .lf else { return try downstream.write(bytes) }
        // The output may be one byte longer than the input: a carriage return held back before.
        let room = window.bytes.count - 1
        var rest = bytes[...]
        while !rest.isEmpty {
            var count = 0
            func put(_ byte: UInt8) {
                window.bytes[count] = byte
                count += 1
            }
            for byte in UnsafeRawBufferPointer(rebasing: rest.prefix(room)) {
                if owesReturn, byte != 10 { put(13) }
                owesReturn = byte == 13
                if !owesReturn { put(byte) }
            }
            try downstream.write(window.prefix(count))
            rest = rest.dropFirst(room)
        }
    }
}
