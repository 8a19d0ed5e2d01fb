import ByteStreams
import Foundation
import InternetMessage
import SMIME
import TestSupport

/// A mail whose MIME entity is known beforehand, byte for byte.
struct SampleMail {
    /// The entity in canonical lines: what must be signed and encrypted, and nothing else.
    let entity: [UInt8]
    /// Where the mail is from.
    let from: String
    let lineEnd: LineEnd

    /// A mail with text and an attachment of about `count` bytes.
    init(from name: String, count: Int = 2048, lineEnd: LineEnd = .lf) {
        from = "\(name)@example.com"
        self.lineEnd = lineEnd
        // Noise, and for a large mail the same noise again and again, at distances that no window has.
        var state: UInt64 = 88_172_645_463_325_252
        let lineCount = max(1, min(997, count / 78))
        let noise = (0..<lineCount * 57).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
        let block = Data(noise).base64EncodedData(options: [.lineLength76Characters]) + Data("\r\n".utf8)
        var attachment = Data()
        for _ in 0..<max(1, count / block.count) { attachment.append(block) }
        let lines = [
            "Content-Type: multipart/mixed; boundary=\"b\"", "", "--b", "Content-Type: text/plain", "",
            "..", "\tindented, and \"quoted\"", "", "", "--b", "Content-Type: application/octet-stream",
            "Content-Transfer-Encoding: base64", "", "",
        ]
        entity =
            Array(lines.joined(separator: "\r\n").utf8) + Array(attachment) + Array("--b--\r\n\r\n".utf8)
    }

    /// The entity, to be compared.
    var content: Data { Data(entity) }

    /// The entity with the mail's header fields inside, as RFC 9788 has them.
    ///
    /// - Parameter scheme: `clear` if it is signed, `cipher` if it is encrypted with nothing hidden.
    func content(_ scheme: String) -> Data {
        var text = String(decoding: entity, as: UTF8.self)
        let fields = ["To: bob@example.com", "From: \(from)", "Subject: hi"]
        let records = scheme == "cipher" ? fields.map { "HP-Outer: \($0)\r\n" }.joined() : ""
        let type = "Content-Type: multipart/mixed; boundary=\"b\""
        text.replace("\(type)\r\n", with: "\(type);\r\n hp=\"\(scheme)\"\r\n\(records)", maxReplacements: 1)
        return Data((fields + ["MIME-Version: 1.0", text]).joined(separator: "\r\n").utf8)
    }

    /// The whole mail, with the header that openssl writes.
    var bytes: [UInt8] {
        get throws {
            let fields = ["To: bob@example.com", "From: \(from)", "Subject: hi", "MIME-Version: 1.0", ""]
            return (Array(fields.joined(separator: "\r\n").utf8) + entity).withLines(endingIn: lineEnd)
        }
    }

    /// Options that make openssl write the same header.
    var fields: String { "-to bob@example.com -from \(from) -subject hi" }
}

/// What `body` writes; as Data, which a test that fails does not print whole.
func written(_ body: (any ByteSink) throws -> Void) throws -> Data {
    let sink = MemorySink()
    try body(sink)
    return Data(sink.bytes)
}
