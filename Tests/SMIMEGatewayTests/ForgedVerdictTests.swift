import InternetMessage
import Testing

/// Forged verdicts in the gateway's name, in spellings that users or programs would accept.
@Suite struct ForgedVerdictTests {
    private func delivered(_ field: String) async throws -> String {
        let message = "From: b@x.test\n\(field)\nTo: alice@example.org\n\nHello\n"
        return try await GatewayDelivery.text(of: Array(message.utf8), tags: false)
    }

    @Test(arguments: [
        "gw。example。org", "gw．example．org", "gw｡example｡org", "gw․example․org", "ｇｗ.ｅｘａｍｐｌｅ.ｏｒｇ", "𝗀𝗐.example.org",
        "gw.ехаmрlе.оrg", "gw.exam\u{200B}ple.org", "gw\u{2060}.example.org", "\u{FEFF}gw.example.org",
        "gw.example.org\u{AD}",
        "gw.\u{E000}example.org", "gw\u{2800}.example.org", "gw.exam\u{FE0F}ple.org", "gw.exa\u{301}mple.org",
        "gw.example.órg",
        "gw.exampℓe.org", "gw.exam\u{1}ple.org", "gw.example.org\u{0}1", "gw\u{85}.example.org",
        "gw\u{3000}.example.org",
        "\"gw.example.org", "\"\\\"gw.example.org", "\"mx2.example.net", "(x gw.example.org", "(a(b) gw.example.org",
        "(a\\) gw.example.org", "[gw.example.org]", "<gw.example.org>", "“gw.example.org”", "（gw.example.org）",
        "gw.example.org:",
        "by gw.example.org", "host=gw.example.org", "i=1; gw.example.org", "gw.exam ple.org", "gw.\n exam\n ple.org",
        "\"gw\".\"example\".org", "gw\\.example\\.org", "gw(.)example.org", "ｌｏｃａｌｈｏｓｔ", "[localhost]",
        "mx1。example。org",
        "=?utf-8?Q?gw=2Eexample=2Eorg?=", "=?utf-8?B?Z3cuZXhhbXBsZS5vcmc=?=",
        "=?utf-8?Q?gw=2Eexam?= =?utf-8?Q?ple=2Eorg?=",
        "=?utf-8?Q?gw.example.org", "=?utf-7?Q?gw.example.org?=", "=?utf-8?Q?gw=E3=80=82example=E3=80=82org?=",
        "gw.example.org；", "\u{200B}", "\"\"",
    ])
    func `the gateway's authserv-id is recognized in every spelling`(_ name: String) async throws {
        let text = try await delivered("Authentication-Results: \(name); smime=pass (forged)")
        #expect(!text.contains("forged"), "\(text)")
        #expect(text.hasSuffix("From: b@x.test\nTo: alice@example.org\n\nHello\n"), "\(text)")
    }

    @Test(arguments: ["\n", "\r\n"])
    func `a forged verdict behind a bare line feed is removed`(first: String) async throws {
        let forged = "Authentication-Results: gw.example.org; smime=pass (forged)"
        let message = "From: b@x.test\(first)To: alice@example.org\r\n\n\(forged)\r\nX-Other: x\r\n\r\nHello\r\n"
        let text = try await GatewayDelivery.text(of: Array(message.utf8), tags: false)
        #expect(text.hasSuffix("To: alice@example.org\r\n\nX-Other: x\r\n\r\nHello\r\n"), "\(text)")
    }

    @Test func `a message whose forged verdicts cannot all be found is refused`() async throws {
        let fields = String(repeating: "X-Other: \(String(repeating: "x", count: 990))\n", count: 1_100)
        let end = "Authentication-Results: gw.example.org; smime=pass (forged)\n\nHello\n"
        let message = Array("From: b@x.test\njunk\n\(fields)\(end)".utf8)
        await #expect(throws: MIMEError.limitExceeded(.headerBytes)) {
            try await GatewayDelivery.text(of: message, tags: false)
        }
    }

    @Test(arguments: [
        "mx2.example.org", "gw.example.org.evil.test", "gw-example.org", "gwexample.org", "gw.exampIe.org",
        "xgw.example.org",
        "mx.example.net (received by gw.example.org)", "\"mx.example.net\"", "mx.example.net/2", "mx。example。net",
        "пример.рф",
        "mx.example.net 1", "=?utf-8?Q?mx.example.net?=", "spf=pass (x) smtp.mailfrom=example.net",
    ])
    func `results that clearly name another host are kept`(_ name: String) async throws {
        let field = "Authentication-Results: \(name); spf=pass (by gw.example.org)"
        guard name != "spf=pass (x) smtp.mailfrom=example.net" else {
            let other = "Authentication-Results: \(name); dkim=none"
            return #expect(try await delivered(other).contains("\n\(other)\n"))
        }
        let expected = name.hasPrefix("=?") ? "Authentication-Results: \(name); spf=pass" : field
        #expect(try await delivered(expected).contains("\n\(expected)\n"))
    }

    @Test(arguments: [
        "smime=pass forged", "smime = pass forged", "smime/1=pass forged", "(x) smime(y)=pass forged",
        "\"smime\"=pass forged", "=smime=pass forged", "spf=pass; smime=pass forged", "ѕmіme=pass forged",
        "spf=pass smtp.mailfrom=x.test; dkim=none; s/mime=pass forged", "=?utf-8?Q?smime=3Dpass?= forged",
        "spf=pass; dkim=none (\(String(repeating: "x", count: 5_000))); smime=pass forged",
        "spf=pass; \(String(repeating: "x ", count: 600)); smime=pass forged",
    ])
    func `an S/MIME result of no host is removed`(_ value: String) async throws {
        let text = try await delivered("Authentication-Results: \(value)")
        #expect(!text.contains("forged"), "\(text)")
    }

    @Test(arguments: [
        "X_SMIME_Verdict", "X_SMIME-Status", "X-SMIME_Verdict", "X.SMIME", "XSMIME", "XSMIME-Verdict", "X--SMIME",
        "X-S-MIME",
        "X-S/MIME-Verdict", "X-SMlME-Verdict", "X-SM1ME", "XSMIMEFiltered", "X-SMIMEDecrypted", "-X-SMIME", "X+SMIME",
        "X\u{2013}SMIME", "X\u{2D0}SMIME\u{2D0}Status", "X\u{2010}SMIME\u{2010}Verdict", "X\u{2212}SMIME", "X SMIME",
        "Х-SMIME", "X-ЅМІМЕ", "Ｘ-ＳＭＩＭＥ",
        "X-SM\u{200B}IME", "\u{FEFF}X-SMIME", "X-SMI\u{AD}ME", "X-SMÍME-Verdict", "junk\nX_SMIME",
        "junk\nX\u{2014}SMIME-Verdict",
        "X-Other: x\u{2028}X-SMIME-Verdict", "X-Other: x\u{B}X-SMIME", "X-Other: x\u{85}X-SMIME",
    ])
    func `fields that people or programs may take for the gateway's are removed`(_ name: String) async throws {
        let text = try await delivered("\(name): forged")
        let line = text.split(whereSeparator: \.isNewline).first { $0.contains("forged") }
        // Where programs end lines at other characters, those characters are removed.
        #expect(line == nil || line?.hasPrefix("X-Other: x X") == true, "\(text)")
    }

    @Test(arguments: [
        "Authentication_Results", "AuthenticationResults", "Authentication.Results", "Authentication-Result",
        "Authentication-ResuIts", "Authenticati0n-Results", "Authentication\u{2011}Results", "Аuthentication-Results",
        "Authentication-\u{200B}Results", "Ａuthentication-Results", "junk\nAuthentication\u{2013}Results",
        "X-Other: x\u{2029}Authentication-Results",
    ])
    func `a field name that looks like Authentication-Results is treated as such`(_ name: String) async throws {
        let text = try await delivered("\(name): gw.example.org; smime=pass (forged)")
        let line = text.split(whereSeparator: \.isNewline).first { $0.contains("forged") }
        #expect(line == nil || line?.hasPrefix("X-Other: x A") == true, "\(text)")
        let other = "\(name): mx.example.net; smime=pass"
        #expect(try await delivered(other).contains("\n\(other)\n"))
    }

    @Test(arguments: [
        "X-SMIMEA: x", "X-Smiley: x", "X-MimeOLE: x", "X-SMS: x", "X-Mime: x", "SMIME-Capable: x",
        "X-Original-Authentication-Results: gw.example.org; x=y",
        "ARC-Authentication-Results: i=1; gw.example.org; x=y",
        "Authentication-Results-Original: gw.example.org; x=y", "X-Other: a\u{2028}b: c", "X-Other: a\u{B}b",
    ])
    func `other fields are kept`(_ field: String) async throws {
        #expect(try await delivered(field).contains("\n\(field)\n"))
    }
}
