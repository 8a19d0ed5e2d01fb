import Foundation

/// Cases about the MIME structure around CMS.
enum MIMECases {
    static let all = coverage + shapes + transport + lineDefects + readings

    /// alice's signature over the usual text, as a multipart/signed modified by `change`.
    static func shaped(
        _ content: [UInt8] = MailForge.text,
        header: [String] = [],
        _ change: (inout SignedShape) -> Void = { _ in }
    ) throws -> [UInt8] {
        var shape = SignedShape()
        change(&shape)
        var mail = MailForge()
        mail.header += header
        return mail.signed(content, signature: try signature(content), shape)
    }

    /// The same message with one piece of text replaced.
    static func replaced(_ piece: String, with other: String) throws -> [UInt8] {
        Array(String(decoding: try shaped(), as: UTF8.self).replacing(piece, with: other).utf8)
    }

    static func signature(_ content: [UInt8] = MailForge.text) throws -> [UInt8] {
        try SignedForge(content, by: Person.alice.get()).encoded()
    }

    static func signedPart() throws -> [UInt8] { SignedShape().entity(MailForge.text, signature: try signature()) }

    static func opaquePart() throws -> [UInt8] {
        CMSPart.entity(try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded())
    }

    private static let coverage = [
        HostileCase("mime-unsigned-before-signed", .warn) {
            MailForge().mail(Multipart.entity("mixed", SignedCases.evil, try signedPart()))
        },
        HostileCase("mime-unsigned-after-signed", .warn) {
            MailForge().mail(Multipart.entity("mixed", try signedPart(), SignedCases.evil))
        },
        HostileCase("mime-signed-alone-in-mixed", .warn) {
            MailForge().mail(Multipart.entity("mixed", try signedPart()))
        },
        HostileCase("mime-signed-in-alternative", .warn) {
            MailForge().mail(Multipart.entity("alternative", SignedCases.evil, try signedPart()))
        },
        HostileCase("mime-signed-in-related", .warn) {
            MailForge().mail(Multipart.entity("related", SignedCases.evil, try opaquePart()))
        },
        HostileCase("mime-signed-as-attachment", .warn) {
            let part = Array("Content-Disposition: attachment; filename=old.eml\r\n".utf8) + (try signedPart())
            return MailForge().mail(Multipart.entity("mixed", SignedCases.evil, part))
        },
        HostileCase("mime-signed-in-rfc822", .warn) {
            let inner = try SignedCases.detached()
            return MailForge().mail(["Content-Type: message/rfc822"], inner)
        },
        HostileCase("mime-signed-in-rfc822-in-mixed", .warn) {
            let part = Array("Content-Type: message/rfc822\r\n\r\n".utf8) + (try SignedCases.detached())
            return MailForge().mail(Multipart.entity("mixed", SignedCases.evil, part))
        },
        HostileCase("mime-opaque-beside-text", .warn) {
            MailForge().mail(Multipart.entity("mixed", SignedCases.evil, try opaquePart()))
        },
        HostileCase("mime-unsigned", .reject(1)) { MailForge().mail(MailForge.text) },
        HostileCase("mime-signature-part-alone", .reject) {
            MailForge().mail(
                Array("Content-Type: application/pkcs7-signature\r\nContent-Transfer-Encoding: base64\r\n\r\n".utf8)
                    + Array(CMSPart.base64(try signature()).utf8)
            )
        },
    ]

    private static let shapes = [
        HostileCase("mime-third-part", .reject) {
            try shaped { $0.thirdPart = "Content-Type: text/plain\r\n\r\npay me" }
        },
        HostileCase("mime-swapped-parts", .reject) { try shaped { $0.isSwapped = true } },
        HostileCase("mime-two-content-types", .reject) {
            try shaped(header: ["Content-Type: text/plain"])
        },
        HostileCase("mime-two-content-types-ours-second", .reject(65, ["duplicate-content-type"])) {
            let mail = String(decoding: try shaped(), as: UTF8.self)
            return Array(("Content-Type: text/plain\r\n" + mail).utf8)
        },
        HostileCase("mime-two-content-types-after", .reject(65, ["duplicate-content-type"])) {
            try shaped { $0.extraFields = ["Content-Type: text/html"] }
        },
        HostileCase("mime-content-type-inside-twice", .reject) {
            let content = Array(
                "Content-Type: text/plain\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\nhi\r\n".utf8
            )
            return try shaped(content)
        },
        HostileCase("mime-content-type-inside-twice-opaque", .reject(65, ["duplicate-content-type"])) {
            try SignedCases.opaque(
                Array("Content-Type: text/plain\r\nContent-Type: text/html\r\n\r\nhi\r\n".utf8)
            )
        },
        HostileCase("mime-transfer-encoding-inside-twice-opaque", .reject(65, ["duplicate-transfer-encoding"])) {
            let fields = ["base64", "7bit"].map { "Content-Transfer-Encoding: \($0)\r\n" }.joined()
            return try SignedCases.opaque(Array("Content-Type: text/plain\r\n\(fields)\r\naGkK\r\n".utf8))
        },
        HostileCase("mime-no-boundary", .reject(65, ["missing-boundary"])) {
            let mail = try shaped()
            return Array(String(decoding: mail, as: UTF8.self).replacing("; boundary=\"bnd\"", with: "").utf8)
        },
        HostileCase("mime-empty-boundary", .reject) {
            let mail = try shaped()
            return Array(
                String(decoding: mail, as: UTF8.self).replacing("boundary=\"bnd\"", with: "boundary=\"\"").utf8
            )
        },
        HostileCase("mime-two-boundaries", .reject(65, ["contradictory-boundary"])) {
            try shaped { $0.parameters += "; boundary=\"other\"" }
        },
        HostileCase("mime-boundary-backslash", .reject(65, ["contradictory-boundary"])) {
            try replaced("boundary=\"bnd\"", with: #"boundary="b\nd""#)
        },
        HostileCase("mime-boundary-in-angle-brackets", .reject(65, ["contradictory-boundary"])) {
            try shaped { $0.boundary = "<bnd>" }
        },
        HostileCase("mime-boundary-behind-escape", .reject(65, ["contradictory-boundary"])) {
            let list = #"x="a\\"; boundary=bnd; y="\"; boundary=evil; z=""#
            return try replaced("boundary=\"bnd\"", with: list)
        },
        HostileCase("mime-boundary-behind-quote", .reject(65, ["contradictory-boundary"])) {
            try replaced("boundary=\"bnd\"", with: "\";; boundary=bnd")
        },
        HostileCase("mime-boundary-behind-comment", .reject(65, ["contradictory-boundary"])) {
            try replaced("boundary=\"bnd\"", with: "()boundary=bnd")
        },
        HostileCase("mime-type-behind-comment", .reject(65, ["contradictory-boundary"])) {
            try replaced("multipart/signed;", with: "(a) multipart/signed;")
        },
        HostileCase("mime-type-before-comment", .reject(65, ["contradictory-boundary"])) {
            try replaced("multipart/signed;", with: "multipart/signed (a/b);")
        },
        HostileCase("mime-type-with-blanks", .reject(65, ["contradictory-boundary"])) {
            try replaced("multipart/signed;", with: "multipart / signed;")
        },
        HostileCase("mime-opaque-type-with-comment", .reject(65, ["malformed-content-type"])) {
            let text = String(decoding: try SignedCases.opaque(), as: UTF8.self)
            return Array(text.replacing("application/pkcs7-mime;", with: "application/pkcs7-mime (a/b);").utf8)
        },
        HostileCase("mime-opaque-with-another-name", .reject(65, ["malformed"])) {
            let text = String(decoding: try SignedCases.opaque(), as: UTF8.self)
            let field = "Content-Disposition: attachment; filename=\"Invoice.html\"\r\n"
            return Array(text.replacing("Content-Type: application/", with: field + "Content-Type: application/").utf8)
        },
        HostileCase("mime-boundary-71", .reject) { try shaped { $0.boundary = String(repeating: "b", count: 71) } },
        HostileCase("mime-boundary-70", .accept) { try shaped { $0.boundary = String(repeating: "b", count: 70) } },
        // Some programs compare only the beginning of a line (RFC 2046 §5.1.1).
        HostileCase("mime-boundary-prefix", .reject(65, ["contradictory-boundary"])) {
            let content = Array("Content-Type: text/plain\r\n\r\nhi\r\n--bnd2\r\n--bndx--\r\nthere\r\n".utf8)
            return try shaped(content)
        },
        HostileCase("mime-boundary-prefix-of-inner", .reject(65, ["contradictory-boundary"])) {
            let content = Array(
                "Content-Type: multipart/mixed; boundary=bnd2\r\n\r\n--bnd2\r\n\r\na\r\n--bnd2--\r\n".utf8
            )
            return try shaped(content)
        },
        HostileCase("mime-transport-padding", .accept) { try shaped { $0.delimiterPadding = " \t " } },
        HostileCase("mime-close-delimiter-missing", .warn(["unterminated-multipart"])) {
            try shaped { $0.isClosed = false }
        },
        HostileCase("mime-multipart-base64", .reject) {
            try shaped { $0.extraFields = ["Content-Transfer-Encoding: base64"] }
        },
        HostileCase("mime-multipart-quoted-printable", .reject) {
            try shaped { $0.extraFields = ["Content-Transfer-Encoding: quoted-printable"] }
        },
        HostileCase("mime-two-transfer-encodings", .reject) {
            try shaped { $0.signatureType += "\r\nContent-Transfer-Encoding: 7bit" }
        },
        HostileCase("mime-signature-junk", .reject) {
            let mail = try shaped()
            return Array(
                String(decoding: mail, as: UTF8.self).replacing("base64\r\n\r\n", with: "base64\r\n\r\n*!*").utf8
            )
        },
        HostileCase("mime-signature-junk-inside", .reject) {
            var text = String(decoding: try shaped(), as: UTF8.self)
            guard let place = text.range(of: "base64\r\n\r\n")?.upperBound else { return [] }
            text.insert(contentsOf: "(comment)", at: text.index(place, offsetBy: 40))
            return Array(text.utf8)
        },
        HostileCase("mime-signature-bytes-as-7bit", .accept) { try shaped { $0.encoding = "7bit" } },
        HostileCase("mime-missing-padding", .warn) {
            // Chooses a length that needs padding.
            var forge = SignedForge(MailForge.text, by: try Person.alice.get())
            var object = try forge.encoded()
            var name = "x"
            while object.count % 3 == 0 {
                name += "x"
                forge.signers[0].unsignedAttributes = [Attributes.make("1.2.3.4", TLV.utf8(name))]
                object = try forge.encoded()
            }
            let text = String(decoding: MailForge().signed(MailForge.text, signature: object), as: UTF8.self)
            return Array(
                text.replacing("=\r\n\r\n--bnd--", with: "\r\n\r\n--bnd--").replacing(
                    "=\r\n\r\n--bnd--",
                    with: "\r\n\r\n--bnd--"
                ).utf8
            )
        },
        HostileCase("mime-empty", .reject(65)) { [] },
        HostileCase("mime-newline", .reject) { [10] },
        HostileCase("mime-header-only", .reject) { Array("From: alice@example.com\r\n".utf8) },
        HostileCase("mime-p7m-of-text", .reject(65)) {
            MailForge().mail(
                ["Content-Type: application/pkcs7-mime", "Content-Transfer-Encoding: base64"],
                Array("aGVsbG8=\r\n".utf8)
            )
        },
        HostileCase("mime-p7m-empty", .reject(65)) { MailForge().mail(["Content-Type: application/pkcs7-mime"], []) },
        HostileCase("mime-p7s-type-wrong", .reject) { try shaped { $0.signatureType = "text/plain" } },
    ]

    private static let transport = [
        HostileCase("mime-trailing-blanks-stripped", .reject(1)) {
            let content = Array("Content-Type: text/plain\r\n\r\nblanks   \r\n".utf8)
            return MailForge().signed(
                Array("Content-Type: text/plain\r\n\r\nblanks\r\n".utf8),
                signature: try signature(content)
            )
        },
        HostileCase("mime-from-escaped", .reject(1)) {
            let content = Array("Content-Type: text/plain\r\n\r\nFrom here\r\n".utf8)
            return MailForge().signed(
                Array("Content-Type: text/plain\r\n\r\n>From here\r\n".utf8),
                signature: try signature(content)
            )
        },
        HostileCase("mime-rewrapped", .reject(1)) {
            let content = Array("Content-Type: text/plain\r\n\r\none line of text\r\n".utf8)
            return MailForge().signed(
                Array("Content-Type: text/plain\r\n\r\none line\r\nof text\r\n".utf8),
                signature: try signature(content)
            )
        },
        HostileCase("mime-lf-transport", .accept) { try SignedCases.detached().filter { $0 != 13 } },
        HostileCase("mime-lf-transport-opaque", .accept) { try SignedCases.opaque().filter { $0 != 13 } },
        HostileCase("mime-signed-in-lf", .accept) {
            let content = MailForge.text.filter { $0 != 13 }
            return try SignedCases.opaque(content)
        },
        HostileCase("mime-mbox-line", .accept) {
            Array("From alice@example.com Sun Nov  1 00:00:00 2026\r\n".utf8) + (try shaped())
        },
        HostileCase("mime-binary-p7m", .accept) {
            let object = try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded()
            return MailForge().mail(
                ["Content-Type: application/pkcs7-mime; smime-type=signed-data", "Content-Transfer-Encoding: binary"],
                object
            )
        },
        HostileCase("mime-binary-p7s", .accept) { try shaped { $0.encoding = "binary" } },
        HostileCase("mime-preamble-epilogue", .accept) {
            try shaped {
                $0.preamble = "This is a signed message\r\n\r\n"
                $0.epilogue = "\r\nbye\r\n"
            }
        },
        HostileCase("mime-long-lines", .accept) {
            let line = String(repeating: "long ", count: 2000)
            return try shaped(Array("Content-Type: text/plain\r\n\r\n\(line)x\r\n".utf8))
        },
        HostileCase("mime-8bit", .accept) {
            try shaped(
                Array("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nžluť\r\n".utf8)
            )
        },
        HostileCase("mime-folded-and-odd-case", .accept) {
            let text = String(decoding: try shaped(), as: UTF8.self)
            return Array(
                text.replacing(
                    "Content-Type: multipart/signed; protocol",
                    with: "CONTENT-type:\r\n\tMultiPart/SIGNED;\r\n PROTOCOL"
                )
                .utf8
            )
        },
        HostileCase("mime-micalg-unknown", .accept) {
            try shaped { $0.parameters = "protocol=\"application/pkcs7-signature\"; micalg=whirlpool" }
        },
        HostileCase("mime-micalg-wrong", .accept) {
            try shaped { $0.parameters = "protocol=\"application/pkcs7-signature\"; micalg=md5" }
        },
        HostileCase("mime-micalg-missing", .accept) {
            try shaped { $0.parameters = "protocol=\"application/pkcs7-signature\"" }
        },
        HostileCase("mime-x-pkcs7", .accept) {
            try shaped {
                $0.parameters = "protocol=\"application/x-pkcs7-signature\"; micalg=sha-256"
                $0.signatureType = "application/x-pkcs7-signature; name=smime.p7s"
            }
        },
        HostileCase("mime-protocol-not-quoted", .reject(65, ["contradictory-boundary"])) {
            try shaped { $0.parameters = "protocol=application/pkcs7-signature; micalg=sha-256" }
        },
        HostileCase("mime-octet-stream-p7m", .accept) {
            let object = try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded()
            return MailForge().mail(
                ["Content-Type: application/octet-stream; name=smime.p7m", "Content-Transfer-Encoding: base64"],
                Array(CMSPart.base64(object).utf8)
            )
        },
        HostileCase("mime-no-smime-type", .accept) {
            let text = String(decoding: try SignedCases.opaque(), as: UTF8.self)
            return Array(text.replacing(" smime-type=signed-data;", with: "").utf8)
        },
        HostileCase("mime-nested-signed", .accept) {
            let inner = SignedShape(boundary: "inner").entity(MailForge.text, signature: try signature())
            return try SignedCases.detached(inner)
        },
    ]

    private static let lineDefects = [
        HostileCase("mime-bare-lf", .warn(["bare-lf"])) {
            let text = String(decoding: try shaped(), as: UTF8.self)
            return Array(text.replacing("Subject: hi\r\n", with: "Subject: hi\n").utf8)
        },
        HostileCase("mime-bare-lf-in-body", .warn) {
            let content = Array("Content-Type: text/plain\r\n\r\none\ntwo\r\n".utf8)
            return try shaped(content)
        },
        HostileCase("mime-bare-cr", .reject(65, ["hidden-fields"])) {
            try replaced("Subject: hi\r\n", with: "Subject: h\ri\r\n")
        },
        HostileCase("mime-bare-cr-before-line-end", .reject(65, ["hidden-fields"])) {
            try replaced("Subject: hi\r\n", with: "Subject: hi\r\r\n")
        },
        HostileCase("mime-escaped-mailbox-line", .reject(65, ["hidden-fields"])) {
            Array(">From mallory@example.com\r\n".utf8) + (try shaped())
        },
        HostileCase("mime-next-line-before-from", .reject(65, ["hidden-fields"])) {
            try replaced("Subject: hi\r\n", with: "Subject: hi\u{85}From: mallory@example.com\r\n")
        },
        // The second byte of the letter is that of NEL in ISO 8859-1.
        HostileCase("mime-letter-before-from", .accept) {
            try replaced("Subject: hi\r\n", with: "Subject: hi \u{145}From: x \u{443}\u{445}Date: y\r\n")
        },
        HostileCase("mime-bare-cr-in-body", .warn) {
            try shaped(Array("Content-Type: text/plain\r\n\r\none\rtwo\r\n".utf8))
        },
        HostileCase("mime-nul", .warn(["nul-byte"])) {
            let text = String(decoding: try shaped(), as: UTF8.self)
            return Array(text.replacing("Subject: hi", with: "Subject: h\0i").utf8)
        },
        HostileCase("mime-nul-in-body", .warn) {
            try shaped(Array("Content-Type: text/plain\r\n\r\none\0two\r\n".utf8))
        },
        HostileCase("mime-byte-order-mark", .warn(["byte-order-mark"])) { [0xEF, 0xBB, 0xBF] + (try shaped()) },
        HostileCase("mime-blank-before-colon", .warn(["blank-before-colon"])) {
            let text = String(decoding: try shaped(), as: UTF8.self)
            return Array(text.replacing("Subject: hi", with: "Subject : hi").utf8)
        },
        HostileCase("mime-blank-before-colon-of-from", .warn) {
            let text = String(decoding: try shaped(), as: UTF8.self)
            return Array(text.replacing("From: alice", with: "From : alice").utf8)
        },
        HostileCase("mime-blank-before-colon-second-from", .reject) {
            try shaped(header: ["From : mallory@example.com"])
        },
        HostileCase("mime-header-ended-by-text", .warn) {
            let text = String(decoding: try shaped(), as: UTF8.self)
            return Array(text.replacing("Subject: hi\r\n", with: "Subject: hi\r\nthis is no field\r\n").utf8)
        },
        HostileCase("mime-base64-in-second-multipart", .reject) {
            let inner = Multipart.entity("mixed", MailForge.text)
            let part = Array("Content-Transfer-Encoding: base64\r\n".utf8) + inner
            return try shaped(part)
        },
    ]
}
