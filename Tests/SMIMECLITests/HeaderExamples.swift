import Foundation
import TestSupport
import Testing

/// A message like an example in RFC 9788 Appendix C, made with openssl and our test certificates.
struct HeaderExample: CustomTestStringConvertible, Sendable {
    /// How the content is protected.
    enum Envelope: Sendable {
        case none, onePart, multipart, signedEncrypted, encrypted
    }

    /// How the header is protected.
    enum Scheme: Sendable {
        case none, wrapped, clear, cipher
    }

    /// The policy for the outer header.
    enum Policy: Sendable {
        case open, baseline, shy
    }

    let name: String
    let envelope: Envelope
    var isComplex = false
    var scheme = Scheme.none
    var policy = Policy.open
    var hasLegacyDisplay = false
    var isReply = false

    var testDescription: String { name }

    static let text = "This is the message that the example is about."

    /// The fields that the author wrote.
    var fields: [String] {
        let reply = isReply ? ["In-Reply-To: <before@example>", "References: <before@example>"] : []
        return [
            "Subject: \(name)", "Message-ID: <\(name)@example>", "From: Alice <alice@example.com>",
            "To: Bob <bob@example.com>", "Date: Sat, 20 Feb 2021 10:09:02 -0500",
        ] + reply + ["User-Agent: Sample MUA Version 1.0"]
    }

    /// The outer header fields.
    private var outerFields: [String] {
        fields.map { field in
            switch (policy, field.prefix { $0 != ":" }) {
            case (.baseline, "Subject"), (.shy, "Subject"): "Subject: [...]"
            case (.shy, "From"): "From: alice@example.com"
            case (.shy, "To"): "To: bob@example.com"
            case (.shy, "Date"): "Date: Sat, 20 Feb 2021 15:09:02 +0000"
            default: field
            }
        }
    }

    /// The names of the hidden fields.
    var hidden: [String] {
        zip(fields, outerFields).filter(!=).map { $0.0.prefix { $0 != ":" }.lowercased() }.sorted()
    }

    /// The body and its Content fields.
    private func body(_ parameters: String) -> [String] {
        let mark = hasLegacyDisplay ? "; hp-legacy-display=\"1\"" : ""
        let shown = hasLegacyDisplay ? zip(fields, outerFields).filter(!=).map(\.0) : []
        let plain = (shown.isEmpty ? [] : shown + [""]) + [Self.text]
        guard isComplex else {
            return ["Content-Type: text/plain; charset=\"us-ascii\"\(mark)\(parameters)", ""] + plain
        }
        let escaped = shown.joined(separator: "\r\n").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        let division =
            shown.isEmpty
            ? []
            : [
                "<div class=\"header-protection-legacy-display\">", "<pre>\(escaped)</pre>", "</div>",
            ]
        return [
            "Content-Type: multipart/mixed; boundary=\"e4f\"\(parameters)", "", "--e4f",
            "Content-Type: multipart/alternative; boundary=\"78f\"", "", "--78f",
            "Content-Type: text/plain; charset=\"us-ascii\"\(mark)", "",
        ] + plain + ["--78f", "Content-Type: text/html; charset=\"us-ascii\"\(mark)", "", "<html><body>"] + division + [
            "<p>\(Self.text)</p></body></html>", "--78f--", "", "--e4f", "Content-Type: image/png",
            "Content-Transfer-Encoding: base64", "Content-Disposition: inline; filename=\"dot.png\"", "",
            "iVBORw0KGgo=",
            "", "--e4f--",
        ]
    }

    /// The signed or encrypted entity.
    private var payload: String {
        let records = scheme == .cipher ? outerFields.map { "HP-Outer: \($0)" } : []
        let lines =
            switch scheme {
            case .none: ["MIME-Version: 1.0"] + body("")
            case .wrapped: ["MIME-Version: 1.0", "Content-Type: message/rfc822", ""] + fields + body("")
            case .clear: ["MIME-Version: 1.0"] + fields + body("; hp=\"clear\"")
            case .cipher: ["MIME-Version: 1.0"] + fields + records + body("; hp=\"cipher\"")
            }
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    /// The complete message.
    func message() throws -> [UInt8] {
        let openssl = try OpenSSLCommand()
        let certs = Fixtures.certs.path
        let signing =
            "-sign -outform DER -signer \(certs)/alice/cert.pem -inkey \(certs)/alice/key.pem -certfile \(certs)/ca/intermediate.pem"
        let header = outerFields.joined(separator: "\r\n") + "\r\nMIME-Version: 1.0\r\n"
        let content = Array(payload.utf8)
        switch envelope {
        case .none: return Array((fields + body("")).joined(separator: "\r\n").utf8)
        case .onePart:
            return Array(
                (header + Self.part(try openssl.cms(signing + " -nodetach", input: content), "signed-data")).utf8
            )
        case .multipart:
            let signature = Data(try openssl.cms(signing, input: content)).base64EncodedString(
                options: .lineLength64Characters
            )
            let type =
                "Content-Type: multipart/signed; protocol=\"application/pkcs7-signature\"; micalg=\"sha-256\"; boundary=\"a31\""
            return Array(
                """
                \(header)\(type)\r\n\r\n--a31\r\n\(payload)\r\n--a31\r\nContent-Type: application/pkcs7-signature\r\n\
                Content-Transfer-Encoding: base64\r\n\r\n\(signature)\r\n--a31--\r\n
                """.utf8
            )
        case .encrypted, .signedEncrypted:
            var inner = content
            if envelope == .signedEncrypted {
                inner = Array(Self.part(try openssl.cms(signing + " -nodetach", input: content), "signed-data").utf8)
            }
            let object = try openssl.cms("-encrypt -aes-128-gcm -outform DER \(certs)/bob/cert.pem", input: inner)
            return Array((header + Self.part(object, "authEnveloped-data")).utf8)
        }
    }

    private static func part(_ object: [UInt8], _ type: String) -> String {
        """
        Content-Type: application/pkcs7-mime; name="smime.p7m"; smime-type="\(type)"\r\n\
        Content-Transfer-Encoding: base64\r\n\r\n\
        \(Data(object).base64EncodedString(options: .lineLength64Characters))\r\n
        """
    }
}
