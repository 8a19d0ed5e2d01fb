import Foundation

/// Cases that another mail program, such as Python, NeoMutt or JavaMail, reads as another message.
extension MIMECases {
    private static let ambiguous = Expectation.reject(65, ["contradictory-boundary"])
    private static let hidden = Expectation.reject(65, ["hidden-fields"])
    private static let evil = "--evil\r\n\r\npay me\r\n--evil--\r\n"

    static let readings = boundaries + delimiters + fields

    private static let boundaries = [
        HostileCase("mime-boundary-encoded-word", ambiguous) { try shaped { $0.boundary = "=?utf-8?q?evil?=" } },
        HostileCase("mime-boundary-in-encoded-word", ambiguous) {
            try shaped { $0.parameters += "; x=\"=?utf-8?q?a=22=3B_boundary=3Devil?=\"" }
        },
        HostileCase("mime-boundary-name-form-feed", ambiguous) {
            try shaped { $0.parameters += "; boundary\u{C}=evil" }
        },
        HostileCase("mime-boundary-name-no-break-space", ambiguous) {
            try shaped { $0.parameters += "; \u{A0}boundary=evil" }
        },
        HostileCase("mime-boundary-without-value", ambiguous) { try shaped { $0.parameters += "; boundary; x=a b" } },
        HostileCase("mime-boundary-cut-at-equals-sign", ambiguous) {
            let mail = try shaped(Array(inner("evil").utf8)) { $0.boundary = "evil=x" }
            return Array(
                String(decoding: mail, as: UTF8.self).replacing("boundary=\"evil=x\"", with: "boundary=evil=x").utf8
            )
        },
        HostileCase("mime-boundary-in-quotes", ambiguous) {
            try shaped { $0.parameters += "; type=\"multipart/mixed; boundary=evil\"" }
        },
        HostileCase("mime-boundary-after-empty-parameter", ambiguous) { try shaped { $0.parameters += ";; x=y" } },
        HostileCase("mime-boundary-after-stray-word", ambiguous) { try shaped { $0.parameters += "; x; y=z" } },
        HostileCase("mime-boundary-after-odd-value", ambiguous) { try shaped { $0.parameters += "; x=a,b" } },
        HostileCase("mime-boundary-after-odd-name", ambiguous) { try shaped { $0.parameters += "; x@y=z" } },
        HostileCase("mime-boundary-before-semicolon", .accept) {
            try replaced("boundary=\"bnd\"", with: "boundary=\"bnd\"; x=a/b;")
        },
        HostileCase("mime-boundary-behind-semicolon-in-quotes", ambiguous) {
            try shaped { $0.parameters += "; x=\"a; b\"" }
        },
        HostileCase("mime-boundary-in-another-name", ambiguous) { try shaped { $0.parameters += "; xboundary=evil" } },
        HostileCase("mime-boundary-in-second-value", ambiguous) {
            try shaped { $0.parameters += "; x=a; x=\"; boundary=evil; y=\"" }
        },
        HostileCase("mime-boundary-behind-control-character", ambiguous) {
            try shaped { $0.parameters += "; x=\"\t\"" }
        },
        HostileCase("mime-boundary-of-hyphens", ambiguous) { try shaped { $0.boundary = "-----" } },
        HostileCase("mime-boundary-with-hyphens", ambiguous) {
            try shaped {
                $0.boundary = "--bnd"
                $0.preamble = String(repeating: "x", count: 1_023) + "------bnd\r\n\r\npay me\r\n"
            }
        },
        HostileCase("mime-boundary-cut-to-nothing", ambiguous) {
            let mail = try shaped { $0.boundary = "=_x" }
            return Array(String(decoding: mail, as: UTF8.self).replacing("boundary=\"=_x\"", with: "boundary==_x").utf8)
        },
        HostileCase("mime-boundary-with-apostrophes", ambiguous) {
            try replaced("boundary=\"bnd\"", with: "boundary=''bnd")
        },
        HostileCase("mime-boundary-with-blank", ambiguous) {
            try replaced("boundary=\"bnd\"", with: "boundary=\"bnd \"")
        },
        HostileCase("mime-boundary-folded", ambiguous) {
            let mail = try shaped { ($0.boundary, $0.preamble) = ("A   B", "--A B\r\n\r\npay me\r\n--A B--\r\n") }
            return Array(String(decoding: mail, as: UTF8.self).replacing("\"A   B\"", with: "\"A\r\n   B\"").utf8)
        },
        HostileCase("mime-boundary-with-one-blank", .accept) { try shaped { $0.boundary = "A B" } },
        HostileCase("mime-boundary-of-inner", ambiguous) {
            try shaped(Array(inner("bnd").utf8)) { $0.boundary = "bnd" }
        },
        HostileCase("mime-boundary-of-inner-in-other-case", ambiguous) {
            try shaped(Array(inner("BND").utf8)) { $0.boundary = "bnd" }
        },
        HostileCase("mime-boundary-is-beginning-of-inner", ambiguous) {
            try shaped(Array(inner("bnd2").utf8)) { $0.boundary = "bnd" }
        },
        HostileCase("mime-boundary-behind-blank", ambiguous) {
            try shaped { ($0.boundary, $0.preamble) = ("bnd", "text\r\n\t--bnd\r\n\r\npay me\r\n") }
        },
        HostileCase("mime-boundary-behind-one-byte", ambiguous) {
            try shaped { ($0.boundary, $0.preamble) = ("bnd", "text\r\n.--bnd\r\n\r\npay me\r\n") }
        },
        HostileCase("mime-boundary-behind-quoted-blank", ambiguous) {
            try shaped { $0.parameters += "; x=\"a b\" " }
        },
        HostileCase("mime-boundary-beside-quoted-blank", .accept) { try shaped { $0.parameters += "; x=\"a b\"" } },
        HostileCase("mime-boundary-after-byte", ambiguous) { try shaped { $0.parameters += "; x=\"\u{E9}\"" } },
        HostileCase("mime-boundary-behind-word", .accept) {
            try shaped { ($0.boundary, $0.preamble) = ("bnd", "text --bnd\r\n") }
        },
        HostileCase("mime-boundary-in-other-case", ambiguous) {
            try shaped { ($0.boundary, $0.preamble) = ("bnd", "--BND\r\n\r\npay me\r\n--BND--\r\n") }
        },
        HostileCase("mime-boundary-of-inner-is-close", ambiguous) {
            try shaped(Array(inner("bnd--").utf8)) { $0.boundary = "bnd" }
        },
    ]

    private static let delimiters = [
        HostileCase("mime-close-delimiter-with-text-in-content", ambiguous) {
            try shaped(Array("Content-Type: text/plain\r\n\r\nhi\r\n--bnd--text\r\nP.S. a joke\r\n".utf8))
        },
        HostileCase("mime-close-delimiter-twice", .accept) { try shaped { $0.epilogue = "\r\n--bnd--\r\n" } },
        HostileCase("mime-list-footers", .accept) {
            let google = "--~--~---------~--~----~------------~-------~--~----~"
            let lines = ["--To unsubscribe", "--bnd", google, "-----Original Message-----", "-----~->", "--+----+--"]
            return try shaped { $0.epilogue = "\r\n" + lines.joined(separator: "\r\n") + "\r\n" }
        },
        HostileCase("mime-delimiters-in-signature", .reject) { try shaped { $0.signatureType += "\r\n\r\n" + evil } },
        HostileCase("mime-hyphens-in-preamble", .accept) {
            try shaped {
                $0.preamble = "-- \r\nsigned\r\n-----\r\n---- Message ----\r\n"
                $0.epilogue = "\r\n--\r\na list\r\n"
            }
        },
        HostileCase("mime-delimiter-after-long-line", ambiguous) {
            try shaped { $0.preamble = String(repeating: "x", count: 1_023) + "--bnd\r\n\r\npay me\r\n" }
        },
        HostileCase("mime-delimiter-after-hyphens", ambiguous) {
            try shaped { $0.preamble = String(repeating: "-", count: 70_000) + "bnd\r\n\r\npay me\r\n" }
        },
        HostileCase("mime-delimiter-in-signature-header", ambiguous) {
            try shaped { $0.signatureType += "\r\nX: a\r--bnd\rpay me\r--bnd--" }
        },
        HostileCase("mime-text-in-signature-header", ambiguous) {
            try shaped { $0.signatureType += "\r\nX: a\r--evil\rpay me\r--evil--" }
        },
        HostileCase("mime-delimiter-in-short-line", .accept) { try shaped { $0.preamble = "see --bnd\r\n" } },
        HostileCase("mime-delimiter-with-nul", ambiguous) {
            var mail = try shaped { $0.encoding = "binary" }
            let close = Array("\r\n--bnd--".utf8)
            guard let end = mail.indices.last(where: { mail[$0...].starts(with: close) }) else { return [] }
            mail.insert(contentsOf: Array("\r\n--bnd\0x\r\n\r\npay me\r\n".utf8), at: end)
            return mail
        },
    ]

    private static let fields = [
        HostileCase("mime-nul-joins-content-type", hidden) {
            try shaped { $0.extraFields = ["Content-Ty\0x: y", "pe: text/plain"] }
        },
        HostileCase("mime-nul-joins-from", hidden) {
            try shaped { $0.extraFields = ["Fr\0x: y", "om: mallory@evil.test"] }
        },
        HostileCase("mime-nul-before-from", hidden) {
            Array("X-A: a\0\r\n".utf8) + (try shaped { $0.extraFields = ["X-B: b"] })
        },
        HostileCase("mime-nul-in-content-type", .reject(65)) { try shaped { $0.parameters += "; x=a\0" } },
        HostileCase("mime-folded-from-behind-text", hidden) {
            try shaped { $0.extraFields = ["From", " : mallory@evil.test"] }
        },
        HostileCase("mime-pem-behind-text", .reject(1)) { try armored(behind: "junk\r\n") },
        HostileCase("mime-pem-behind-mailbox-line", .reject(1)) { try armored(behind: "From a\r\nFrom a\r\n") },
        HostileCase("mime-pem-behind-mailbox-line-alone", .reject(1)) {
            try armored(behind: "From alice@example.com Fri Nov 27 07:00:00 2026\r\n", header: ["Subject: pay"])
        },
        HostileCase("mime-pem-before-header", .reject(1)) {
            let block = try armored(behind: "", header: ["X: y"]).drop { $0 != UInt8(ascii: "-") }
            return Array(block) + MailForge().mail([], Array("pay me\r\n".utf8))
        },
        HostileCase("mime-pem-far-before-header", .reject(1)) {
            let block = try armored(behind: "", header: ["X: y"]).drop { $0 != UInt8(ascii: "-") }
            let story = Array(String(repeating: "a long story\r\n", count: 80_000).utf8)
            return Array(block) + story + MailForge().mail([], Array("pay me\r\n".utf8))
        },
        HostileCase("mime-signature-type-with-text", .reject(65, ["malformed-content-type"])) {
            try shaped { $0.signatureType = "application/pkcs7-signature x/y; name=smime.p7s" }
        },
        HostileCase("mime-signature-type-with-comment", .reject(65, ["malformed-content-type"])) {
            try shaped { $0.signatureType = "application/pkcs7-signature (x/y)" }
        },
        HostileCase("mime-signature-with-other-file-name", .reject(65)) {
            try shaped {
                $0.signatureType =
                    "application/octet-stream; name=smime.p7s"
                    + "\r\nContent-Disposition: inline; filename=\"Invoice.html\""
            }
        },
        HostileCase("mime-signature-with-name-cut-at-nul", .reject(65)) {
            try shaped {
                $0.signatureType += "\r\nContent-Disposition: attachment; filename*=utf-8''Invoice.html%00.p7s"
            }
        },
        HostileCase("mime-signature-with-two-dispositions", .reject(65)) {
            try shaped {
                $0.signatureType +=
                    "\r\nContent-Disposition: attachment; filename=smime.p7s"
                    + "\r\nContent-Disposition: attachment; filename=Invoice.html"
            }
        },
        HostileCase("mime-signature-with-name-but-no-disposition", .reject(65)) {
            try shaped { $0.signatureType += "\r\nContent-Disposition: filename=Invoice.html" }
        },
        HostileCase("mime-signature-without-name", .reject(65)) {
            try shaped { $0.signatureType = "application/octet-stream" }
        },
        HostileCase("mime-signature-with-disposition", .accept) {
            try shaped { $0.signatureType += "\r\nContent-Disposition: attachment; filename=\"smime.p7s\"" }
        },
        HostileCase("mime-blank-before-colon-and-sender", hidden) {
            let mail = String(decoding: try shaped(), as: UTF8.self)
            return Array(("Sender: mallory@evil.test\r\nX : y\r\n" + mail).utf8)
        },
        HostileCase("mime-blank-before-colon-behind-from", .warn(["blank-before-colon"])) {
            try shaped(header: ["X-Original-Sender: list@example.com", "X : y"])
        },
        HostileCase("mime-blank-before-colon-and-mailbox-line", hidden) {
            let mail = String(decoding: try shaped(), as: UTF8.self).replacing("From: alice", with: "From : alice")
            return Array("From mallory@evil.test Fri Nov 27 07:00:00 2026\r\n".utf8) + Array(mail.utf8)
        },
        HostileCase("mime-byte-order-mark-and-sender", hidden) {
            [0xEF, 0xBB, 0xBF] + (try shaped(header: ["Sender: mallory@evil.test"]))
        },
        HostileCase("mime-nul-in-signature-header", ambiguous) {
            try shaped { $0.signatureType += "\r\nX: a\0" }
        },
        HostileCase("mime-pem-behind-begin-line", .reject) { try armored(behind: "-----BEGIN X-----\r\n") },
        HostileCase("mime-pem-behind-folded-name", .reject) {
            try armored(behind: "junk\r\n", header: ["From", " : alice@example.com"])
        },
    ]

    /// A multipart with two parts.
    private static func inner(_ boundary: String) -> String {
        """
        Content-Type: multipart/mixed; boundary="\(boundary)"\r
        \r
        --\(boundary)\r
        \r
        pay me\r
        --\(boundary)\r
        \r
        I do not owe you anything\r
        --\(boundary)--\r

        """
    }

    /// A mail of alice with text and a CMS object in PEM, after `start`.
    private static func armored(behind start: String, header: [String] = MailForge().header) throws -> [UInt8] {
        let object = try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded()
        let lines =
            header + ["", "pay me", "-----BEGIN PKCS7-----", "\(CMSPart.base64(object))-----END PKCS7-----", ""]
        return Array((start + lines.joined(separator: "\r\n")).utf8)
    }
}
