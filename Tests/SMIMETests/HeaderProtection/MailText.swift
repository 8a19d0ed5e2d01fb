import ByteStreams
import InternetMessage

extension String {
    /// The text's bytes with CRLF line ends.
    var crlf: [UInt8] { bytes.withLines(endingIn: .crlf) }
    /// The text's bytes.
    var bytes: [UInt8] { Array(utf8) }
}

extension Array<UInt8> {
    /// These bytes as text.
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension ByteStream {
    func all() throws -> [UInt8] { try makeReader().readAll(limit: .max, orThrow: StreamError.changedWhileReading) }
}
