import ByteStreams
import InternetMessage

/// The end of a message at a line with a single dot, as in sendmail without `-i`.
enum LoneDot {
    /// `source` up to the first line with a single dot; `source` itself if there is no such line.
    static func truncated(_ source: any ByteSource) throws -> any ByteSource {
        let window = Window()
        let reader = source.reader()
        /// The bytes of the current line. Only the first three are needed.
        var line: [UInt8] = []
        var (position, start) = (0, 0)
        while case let count = try window.fill(from: reader), count > 0 {
            let bytes = window.prefix(count)
            for index in bytes.indices {
                let byte = bytes[index]
                position += 1
                guard byte == UInt8(ascii: "\n") else {
                    if line.count < 3 { line.append(byte) }
                    continue
                }
                if line == Array(".".utf8) || line == Array(".\r".utf8) {
                    return try Spool.source { try source.reader(in: 0..<start).copy(to: $0) }
                }
                (line, start) = ([], position)
            }
        }
        return line == Array(".".utf8) ? try Spool.source { try source.reader(in: 0..<start).copy(to: $0) } : source
    }
}
