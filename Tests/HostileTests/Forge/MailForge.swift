import Foundation

/// A mail in preparation: header fields around an entity; every line can be changed.
struct MailForge {
    var header = [
        "From: alice@example.com", "To: bob@example.com", "Subject: hi", "Date: Sun, 01 Nov 2026 00:00:00 +0000",
    ]
    var lineEnd = "\r\n"

    static let text = Array("Content-Type: text/plain\r\n\r\nI owe you nothing.\r\n".utf8)

    init() {}

    /// A mail from another author.
    init(from: String) { header[0] = "From: \(from)" }

    func mail(_ fields: [String], _ body: [UInt8]) -> [UInt8] {
        let lines = header + ["MIME-Version: 1.0"] + fields + [""]
        return Array((lines.joined(separator: lineEnd) + lineEnd).utf8) + body
    }

    /// A mail with `entity` as its body.
    func mail(_ entity: [UInt8]) -> [UInt8] {
        Array(((header + ["MIME-Version: 1.0"]).joined(separator: lineEnd) + lineEnd).utf8) + entity
    }

    /// A mail that consists of a CMS object.
    func cms(_ object: [UInt8], _ type: String = "signed-data") -> [UInt8] { mail(CMSPart.entity(object, type)) }

    /// multipart/signed.
    func signed(_ entity: [UInt8], signature object: [UInt8], _ shape: SignedShape = SignedShape()) -> [UInt8] {
        mail(shape.entity(entity, signature: object))
    }
}

/// The variable parts of multipart/signed.
struct SignedShape {
    var type = "multipart/signed"
    var parameters = "protocol=\"application/pkcs7-signature\"; micalg=sha-256"
    var boundary = "bnd"
    var signatureType = "application/pkcs7-signature; name=smime.p7s"
    var encoding = "base64"
    var extraFields: [String] = []
    var preamble = ""
    var epilogue = ""
    var thirdPart: String?
    var isSwapped = false
    var isClosed = true
    var delimiterPadding = ""

    func entity(_ content: [UInt8], signature object: [UInt8]) -> [UInt8] {
        let fields = ["Content-Type: \(type); \(parameters); boundary=\"\(boundary)\""] + extraFields + ["", ""]
        let body = encoding == "base64" ? Array(CMSPart.base64(object).utf8) : object
        let signature =
            Array("Content-Type: \(signatureType)\r\nContent-Transfer-Encoding: \(encoding)\r\n\r\n".utf8) + body
        var parts = isSwapped ? [signature, content] : [content, signature]
        if let thirdPart { parts.append(Array(thirdPart.utf8)) }
        var bytes = Array((fields.joined(separator: "\r\n") + preamble).utf8)
        for part in parts {
            bytes += Array("--\(boundary)\(delimiterPadding)\r\n".utf8)
            bytes += part + [13, 10]
        }
        if isClosed { bytes += Array("--\(boundary)--\r\n".utf8) }
        return bytes + Array(epilogue.utf8)
    }
}

/// application/pkcs7-mime.
enum CMSPart {
    static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
        ])
            + "\r\n"
    }

    static func entity(_ object: [UInt8], _ type: String = "signed-data") -> [UInt8] {
        Array(
            """
            Content-Type: application/pkcs7-mime; smime-type=\(type); name=smime.p7m\r
            Content-Transfer-Encoding: base64\r
            \r
            \(base64(object))
            """.utf8
        )
    }
}

/// The parts of a multipart in order.
enum Multipart {
    static func entity(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        let boundary = "outer"
        var bytes = Array("Content-Type: multipart/\(type); boundary=\(boundary)\r\n\r\n".utf8)
        for part in parts {
            bytes += Array("--\(boundary)\r\n".utf8)
            bytes += part + [13, 10]
        }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }
}
