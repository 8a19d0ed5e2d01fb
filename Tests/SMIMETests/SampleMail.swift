import ByteStreams
import Foundation
import InternetMessage
import SMIME
import TestSupport

/// A mail whose MIME entity is known in advance, byte for byte.
struct SampleMail {
    /// The entity with canonical line ends: exactly what must be signed or encrypted.
    let entity: [UInt8]
    /// The sender's address.
    let from: String
    let lineEnd: LineEnd

    /// A mail with text and an attachment of about `count` bytes.
    init(from name: String, count: Int = 2048, lineEnd: LineEnd = .lf) {
        from = "\(name)@example.com"
        self.lineEnd = lineEnd
        // Random bytes. In a large mail they repeat at distances larger than any compression window.
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

    /// The entity as Data, for comparisons.
    var content: Data { Data(entity) }

    /// The entity with the mail's header fields inside, as in RFC 9788.
    ///
    /// - Parameter scheme: `clear` for a signed mail, `cipher` for an encrypted one without hidden fields.
    func content(_ scheme: String) -> Data {
        var text = String(decoding: entity, as: UTF8.self)
        let fields = ["To: bob@example.com", "From: \(from)", "Subject: hi"]
        let records = scheme == "cipher" ? fields.map { "HP-Outer: \($0)\r\n" }.joined() : ""
        let type = "Content-Type: multipart/mixed; boundary=\"b\""
        text.replace("\(type)\r\n", with: "\(type);\r\n hp=\"\(scheme)\"\r\n\(records)", maxReplacements: 1)
        return Data((fields + ["MIME-Version: 1.0", text]).joined(separator: "\r\n").utf8)
    }

    /// The complete mail, with the header that openssl writes.
    var bytes: [UInt8] {
        get throws {
            let fields = ["To: bob@example.com", "From: \(from)", "Subject: hi", "MIME-Version: 1.0", ""]
            return (Array(fields.joined(separator: "\r\n").utf8) + entity).withLines(endingIn: lineEnd)
        }
    }

    /// Options that make openssl write the same header.
    var fields: String { "-to bob@example.com -from \(from) -subject hi" }
}

/// The output of `body`, as Data: a failing test does not print it in full.
func written(_ body: (any ByteSink) throws -> Void) throws -> Data {
    let sink = MemorySink()
    try body(sink)
    return Data(sink.bytes)
}
