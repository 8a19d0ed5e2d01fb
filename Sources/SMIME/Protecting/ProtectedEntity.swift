import ByteStreams
import CMSSyntax
import InternetMessage
import LibCrypto
import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
package import Foundation
#endif

/// The entity around protected content: its header fields and its body, with CRLF line ends.
struct ProtectedEntity {
    let fields: [NewField]
    let body: ReplayableContent

    /// An entity whose body is a CMS object in base64 (RFC 8551 §3.2).
    ///
    /// - Parameter name: the file name; older mail programs recognize the type by its extension (RFC 8551 §3.2.1).
    init(cms object: ReplayableContent, type: String, name: String = "smime.p7m") {
        fields = [
            NewField(
                "Content-Type",
                value: "application/pkcs7-mime",
                parameters: [.init("smime-type", value: type), .init("name", value: name)]
            ),
            NewField("Content-Disposition", value: "attachment", parameters: [.init("filename", value: name)]),
            NewField("Content-Transfer-Encoding", value: "base64"),
        ]
        body = object.base64
    }

    /// A multipart/signed (RFC 8551 §3.5.3).
    init(content: ReplayableContent, signature: ReplayableContent, digest: DigestAlgorithm) {
        let random = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }.joined()
        let boundary = "smime-\(random)"
        fields = [
            NewField(
                "Content-Type",
                value: "multipart/signed",
                parameters: [
                    .init("protocol", value: "application/pkcs7-signature"), .init("micalg", value: digest.micalg),
                    .init("boundary", value: boundary),
                ]
            )
        ]
        let signatureHeader = [
            NewField(
                "Content-Type",
                value: "application/pkcs7-signature",
                parameters: [.init("name", value: "smime.p7s")]
            ),
            NewField("Content-Transfer-Encoding", value: "base64"),
            NewField("Content-Disposition", value: "attachment", parameters: [.init("filename", value: "smime.p7s")]),
        ].flatMap { $0.bytes(lineEnd: .crlf) }
        body = ReplayableContent { sink in
            try sink.write("This is a signed message in MIME format (S/MIME).\r\n\r\n--\(boundary)\r\n")
            try content.write(sink)
            try sink.write("\r\n--\(boundary)\r\n")
            try sink.write(signatureHeader)
            try sink.write("\r\n")
            try signature.base64.write(sink)
            try sink.write("\r\n--\(boundary)--\r\n")
        }
    }

    /// The header and the body, in canonical form.
    var content: ReplayableContent {
        ReplayableContent { sink in
            for field in fields { try sink.write(field.bytes(lineEnd: .crlf)) }
            try sink.write(LineEnd.crlf.bytes)
            try body.write(sink)
        }
    }
}
