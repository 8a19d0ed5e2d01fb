import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Testing

/// What is removed from incoming mail, and what is kept.
@Suite struct IncomingFilterTests {
    private func delivered(_ message: String, tags: Bool = false) async throws -> String {
        try await delivered(bytes: Array(message.utf8), tags: tags)
    }

    private func delivered(bytes message: [UInt8], tags: Bool) async throws -> String {
        try await GatewayDelivery.text(of: message, tags: tags)
    }

    @Test(arguments: [
        "Authentication-Results: gw.example.org; smime=pass",
        "AUTHENTICATION-results:gw.example.org;smime=pass",
        "Authentication-Results : GW.Example.ORG 1 ; smime=pass",
        "Authentication-Results:\n\tgw.example.org\n\t; smime=pass",
        "Authentication-Results: (a; (b\\)) c) gw.example.org (x) ; smime=pass",
        "Authentication-Results: \"gw.example.org\"; smime=pass",
        "Authentication-Results: \"gw.exa\\mple.org\" 1; smime=pass",
        "Authentication-Results: gw . example . org; smime=pass",
        "Authentication-Results: gw.(x)example.org 1; smime=pass",
        "Authentication-Results: gw.example.org.; smime=pass",
        "Authentication-Results: gw.example.org/1; smime=pass",
        "Authentication-Results: mx1.example.org; smime=pass",
        "Authentication-Results: MX1; smime=pass",
        "Authentication-Results: gw\0.example.org; smime=pass",
        "Authentication-Results: gw.example.org\u{1} 1; smime=pass",
        "Authentication-Results: gw.example.org;\u{301} smime=pass",
        "Authentication-Results: gw.example.org;\u{200D}smime=pass",
        "Authentication-Results: (\u{301}x)\u{301} gw.example.org; smime=pass",
        "Authentication-Results: ; smime=pass",
        "Authentication-Results: localhost; smime=pass",
        "Authentication-Results: \"LocalHost\" 1; smime=pass",
        "Authentication-Results: (nobody) ",
        "X-SMIME: encrypt=never",
        "x-smime-decrypted: gw.example.org; cipher=aes",
        "X-Smime-Verdict : pass",
    ])
    func `forged verdicts in the gateway's name are removed in every spelling`(_ forged: String) async throws {
        let text = try await delivered("From: b@x.test\n\(forged)\nTo: alice@example.org\n\nHello\n")
        #expect(!text.contains("pass") && !text.contains("encrypt=never") && !text.contains("cipher=aes"))
        #expect(text.hasPrefix("Authentication-Results: gw.example.org; smime=none (unsigned)\n"))
        #expect(text.hasSuffix("From: b@x.test\nTo: alice@example.org\n\nHello\n"))
    }

    @Test(arguments: [
        "Authentication-Results: gw.example.org.evil.test; spf=pass",
        "Authentication-Results: mx2.example.org; dkim=pass (by gw.example.org; smime=fail)",
        "X-SMIMEA: something", "Subject: Authentication-Results: gw.example.org",
    ])
    func `verdicts of other hosts are kept`(_ field: String) async throws {
        let text = try await delivered("From: b@x.test\r\n\(field)\r\n\r\nHello\r\n")
        #expect(text.hasSuffix("From: b@x.test\r\n\(field)\r\n\r\nHello\r\n"))
    }

    @Test func `an empty line is inserted before a line that is no header field`() async throws {
        let text = try await delivered("From: b@x.test\nTo: c@x.test\nno field\nX-More: 1\n\nHello\n")
        #expect(text.contains("To: c@x.test\n\nno field\nX-More: 1\n\nHello"))
    }

    @Test(arguments: [
        "Authentication-Results: gw.example.org; smime=pass",
        "Authentication-Results: (a) \"gw.example\\.org\"; smime=pass",
        "AUTHENTICATION-results :\n gw . example.org\n ; smime=pass", "Authentication-Results: localhost; smime=pass",
        "X: y\rAuthentication-Results: mx1; smime=pass", "X-SMIME-Decrypted: pass", "more\nX-Smime: pass",
        "--x\nAuthentication-Results: gw.example.org; smime=pass",
    ])
    func `forged verdicts after a line that is no field are removed`(_ forged: String) async throws {
        let text = try await delivered("From: b@x.test\nno field\n\(forged)\nX-More: 1\n\nThis will pass\n")
        #expect(!text.contains("smime=pass") && !text.contains(": pass"), "\(text)")
        #expect(text.contains("\n\nno field\n") && text.hasSuffix("X-More: 1\n\nThis will pass\n"), "\(text)")
    }

    @Test func `other fields and the body after a line that is no field are kept`() async throws {
        let rest =
            "no field\nAuthentication-Results: mx2.example.net; dkim=pass\n\nAuthentication-Results: gw.example.org; x=y\n"
        #expect(try await delivered("From: b@x.test\n\(rest)").hasSuffix("From: b@x.test\n\n\(rest)"))
    }

    @Test func `a bare carriage return ends no line`() async throws {
        let text = try await delivered(
            "From: b@x.test\nSubject: a\r.\rAuthentication-Results: gw.example.org; x=y\n\nbody\r.\r\n"
        )
        #expect(text.contains("Subject: a . Authentication-Results"))
        #expect(text.hasSuffix("\n\nbody\r.\r\n"))
    }

    /// Forged verdicts in such a header could not be found and removed.
    @Test func `a header beyond the limit is refused`() async throws {
        let long = "X-Long: " + String(repeating: "x", count: 1 << 21)
        await #expect(throws: MIMEError.limitExceeded(.headerBytes)) {
            try await delivered("From: b@x.test\n\(long)\n\nHello\n")
        }
    }

    @Test(arguments: [
        ("Subject: [Signed : eve@x.test] Re: [encrypted] [x] hello", "Subject: Re: [x] hello"),
        ("Subject: =?utf-8?Q?[signed:_eve@x.test]_hello?=", "Subject: hello"),
        ("Subject: [signed: eve@x.test]\u{200D} hello", "Subject: hello"),
        ("Subject: [\u{200B}signed: eve@x.test] hello", "Subject: hello"),
        ("Subject: [encr\u{AD}ypted]\u{301} hello", "Subject: hello"),
        ("Subject: [list] hello", "Subject: [list] hello"),
        ("Subject: [signed] [Signed by eve@x.test] hello", "Subject: hello"),
        ("Subject: [Signature valid] [partly  signed] hello", "Subject: hello"),
        ("Subject: [signature untrusted] [signature expired] [signature revoked] hello", "Subject: hello"),
        ("Subject: [signature required] [not signed] hello", "Subject: [signature required] [not signed] hello"),
        ("Subject: [[signed: x]signed: eve@x.test] hello", "Subject: hello"),
        ("Subject: hello =?x-none?B?W3NpZ25lZDogZXZlQHgudGVzdF0=?=", "Subject: =?utf-8?B?aGVsbG8g77+9?="),
        ("Subject: =?utf-7?Q?+AFs-signed:_eve@x.test+AF0-?= hello", "Subject: =?utf-8?B?77+9IGhlbGxv?="),
        // The letter o and, split between two encoded words, an e with an accent.
        ("Subject: =?utf-8?Q?hell=C3?= =?utf-8?Q?=A9?=", "Subject: =?utf-8?B?aGVsbO+/ve+/vQ==?="),
        ("Subject: =?gb2312?B?o9tzaWduZWQ6IGVAeC50ZXN0o90=?= hello", "Subject: hello"),
        ("Subject: ［ｓｉｇｎｅｄ： eve@x.test］ hello", "Subject: hello"),
        ("Subject: 【signed: eve@x.test】 hello", "Subject: hello"),
        ("Subject: ⟦𝐬𝗂𝓰𝖓𝚎𝒅⟧ hello", "Subject: hello"),
        ("Subject: [ѕіɡпеԁ: eve@x.test] hello", "Subject: hello"),
        ("Subject: [ꜱɪɢɴᴇᴅ: eve@x.test] hello", "Subject: hello"),
        ("Subject: [ⓢⓘⓖⓝⓔⓓ: eve@x.test] hello", "Subject: hello"),
        ("Subject: [ŝịgńëd: eve@x.test] hello", "Subject: hello"),
        ("Subject: [signed\u{A789} eve@x.test] hello", "Subject: hello"),
        ("Subject: [signed - eve@x.test] hello", "Subject: hello"),
        ("Subject: [еncrурted] hello", "Subject: hello"),
        ("Subject: [signature doubtful] hello", "Subject: hello"),
        ("Subject: \u{202E}[tset.x@eve :dengis]\u{202C} hello", "Subject: [tset.x@eve :dengis] hello"),
        ("Subject: [\u{2067}signed: eve@x.test\u{2069}] hello", "Subject: hello"),
        ("Subject: =?utf-8?Q?[signed: eve@x.test]?= hello", "Subject: =?utf-8?B?PT91dGYtOD9RPz89IGhlbGxv?="),
        ("Subject: [signed copy] hello", "Subject: [signed copy] hello"),
        ("Subject: =?koi8-r?Q?[1]_=F0=D2=C9=D7=C5=D4?=", "Subject: =?koi8-r?Q?[1]_=F0=D2=C9=D7=C5=D4?="),
    ])
    func `with subject tags enabled, forged tags are removed`(subject: String, expected: String) async throws {
        let text = try await delivered("From: b@x.test\n\(subject)\n\nHello\n", tags: true)
        #expect(text.contains("\n\(expected)\n\nHello"))
        #expect(try await delivered("From: b@x.test\n\(subject)\n\nHello\n").contains("\n\(subject)\n\n"))
    }

    @Test func `the verdict stands at the start of mail that begins with a byte order mark`() async throws {
        let text = try await delivered("\u{FEFF}From: b@x.test\n\nHello\n")
        #expect(text.hasPrefix("Authentication-Results: ") && text.contains("\nFrom: b@x.test\n"))
    }

    @Test func `a subject without a named character set is decoded as mail readers show it, and encoded`()
        async throws
    {
        let home = "From: b@x.test\nSubject: "
        let message =
            Array(home.utf8) + [0xA3, 0xDB] + Array("signed: eve@x.test".utf8) + [0xA3, 0xDD]
            + Array("\n\nHello\n".utf8)
        let text = try await delivered(bytes: message, tags: true)
        #expect(text.contains("\nSubject: =?utf-8?B?"), "\(text)")
    }

    @Test func `deeply nested tags leave no tag`() async throws {
        let count = 2_000
        let subject = String(repeating: "[", count: count) + String(repeating: "encrypted]", count: count)
        let text = try await delivered("From: b@x.test\nSubject: \(subject) hello\n\nHello\n", tags: true)
        #expect(!text.contains("[") && text.contains("hello"))
    }

    @Test func `in a subject beyond the limit every bracket is removed`() async throws {
        let subject = "[list] " + String(repeating: "[", count: 100_000)
        let text = try await delivered("From: b@x.test\nSubject: \(subject) hello\n\nHello\n", tags: true)
        #expect(!text.contains("[") && text.contains("list") && text.contains("hello"))
    }

    @Test func `a mail loop is detected`() async throws {
        await #expect(throws: GatewayError.loop(passes: 8)) {
            try await delivered("X-SMIME-Filtered: GW.example.org; count=8\nFrom: b@x.test\n\nHello\n")
        }
        let text = try await delivered("x-smime-filtered: gw.example.org; count=1\nFrom: b@x.test\n\nHello\n")
        #expect(text.contains("X-SMIME-Filtered: gw.example.org; count=2\n") && !text.contains("count=1"))
    }
}
