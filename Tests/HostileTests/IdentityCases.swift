import Foundation

/// Cases about the identity of the signer.
enum IdentityCases {
    static let all = forged + certificates + header + hidden + shown + harmless

    /// A mail signed by alice, with `fields` instead of From.
    private static func from(_ fields: String...) throws -> [UInt8] {
        try from(fields, by: Person.alice.get())
    }

    private static func from(_ fields: [String], by person: Person) throws -> [UInt8] {
        var mail = MailForge()
        mail.header.replaceSubrange(0...0, with: fields)
        return mail.signed(MailForge.text, signature: try SignedForge(MailForge.text, by: person).encoded())
    }

    /// A mail signed with bob's key under a trusted certificate modified by `change`.
    private static func certified(
        from: String = "alice@example.com",
        _ change: (inout CertificateForge) -> Void
    ) throws -> [UInt8] {
        let key = try Person.bob.get().key
        var forge = CertificateForge(key)
        change(&forge)
        return try self.from(["From: \(from)"], by: forge.person(key, below: Authority.trusted.get()))
    }

    private static let forged = [
        HostileCase("id-other-from", .reject(1, ["signer-not-from"])) { try from("From: mallory@example.com") },
        HostileCase("id-other-domain", .reject(1)) { try from("From: alice@example.org") },
        HostileCase("id-sub-domain", .reject(1)) { try from("From: alice@mail.example.com") },
        HostileCase("id-super-domain", .reject(1)) { try from("From: alice@com") },
        HostileCase("id-sub-address", .reject(1)) { try from("From: alice+news@example.com") },
        HostileCase("id-dotted-address", .reject(1)) { try from("From: a.lice@example.com") },
        HostileCase("id-trailing-dot", .reject(1)) { try from("From: alice@example.com.evil.test") },
        HostileCase("id-homograph", .reject(1)) { try from("From: \u{0430}lice@example.com") },
        HostileCase("id-homograph-domain", .reject(1)) { try from("From: alice@ex\u{0430}mple.com") },
        HostileCase("id-fullwidth", .reject(1)) { try from("From: \u{FF41}lice@example.com") },
        HostileCase("id-fullwidth-domain", .reject(1)) { try from("From: alice@\u{FF45}xample.com") },
        HostileCase("id-kelvin-domain", .reject(1)) { try from("From: alice@example.\u{212A}r") },
        HostileCase("id-ideographic-dot", .reject(1)) { try from("From: alice@example\u{3002}com") },
        HostileCase("id-zero-width", .reject(1)) { try from("From: al\u{200B}ice@example.com") },
        HostileCase("id-encoded-word-address", .reject(1)) { try from("From: =?utf-8?q?alice=40example=2Ecom?=") },
        HostileCase("id-comment-address", .reject(1)) { try from("From: mallory@evil.test (alice@example.com)") },
        HostileCase("id-name-is-address", .reject(1)) { try from("From: \"alice@example.com\" <mallory@evil.test>") },
        HostileCase("id-two-from-fields", .reject(1, ["from-doubled"])) {
            try from("From: alice@example.com", "From: mallory@example.com")
        },
        HostileCase("id-two-from-fields-equal", .reject(1)) {
            try from("From: alice@example.com", "From: alice@example.com")
        },
        HostileCase("id-two-from-fields-mallory-first", .reject(1)) {
            try from("From: mallory@example.com", "FROM: alice@example.com")
        },
        HostileCase("id-sender-alone", .reject(1, ["signer-is-sender"])) {
            try from("From: bob@example.com", "Sender: alice@example.com")
        },
        HostileCase("id-sender-of-several", .reject(1, ["signer-not-from"])) {
            try from("From: bob@example.com", "Sender: mallory@evil.test, alice@example.com")
        },
        HostileCase("id-sender-group", .reject(1, ["signer-not-from"])) {
            try from("From: bob@example.com", "Sender: us: alice@example.com;")
        },
        HostileCase("id-nul-in-from", .reject(1)) { try from("From: alice@example.com\0@evil.test") },
        HostileCase("id-folded-comment", .reject(1)) {
            try from("From: (\r\n bob. alice@example.com .evil.test) <alice@example.com>")
        },
        HostileCase("id-folded-quotes", .reject(1)) { try from("From: \"bob\r\n \" <alice@example.com>") },
        HostileCase("id-comment-before-at", .reject(1)) { try from("From: alice(Chief)@example.com") },
        HostileCase("id-reply-to", .reject(1)) { try from("From: mallory@evil.test", "Reply-To: alice@example.com") },
        HostileCase("id-resent-from", .reject(1)) {
            try from("From: mallory@evil.test", "Resent-From: alice@example.com")
        },
        HostileCase("id-quoted-at", .reject(1)) { try from("From: \"alice@example.com\"@evil.test") },
    ]

    private static let certificates = [
        HostileCase("id-cn-only", .reject(1)) {
            try certified {
                $0.subject = Name.common("alice@example.com")
                $0.names = []
            }
        },
        HostileCase("id-san-and-dn", .reject(1)) {
            try certified {
                $0.subject = Name.withAddress("alice@example.com")
                $0.names = [Name.mailbox("sam@example.com")]
            }
        },
        HostileCase("id-wildcard", .reject(1)) { try certified { $0.names = [Name.mailbox("*@example.com")] } },
        HostileCase("id-host-only", .reject(1)) { try certified { $0.names = [Name.mailbox("example.com")] } },
        HostileCase("id-domain-with-at", .reject(1)) { try certified { $0.names = [Name.mailbox("@example.com")] } },
        HostileCase("id-dns-name", .reject(1)) { try certified { $0.names = [Name.host("alice@example.com")] } },
        HostileCase("id-dns-domain", .reject(1)) { try certified { $0.names = [Name.host("example.com")] } },
        HostileCase("id-uri", .reject(1)) { try certified { $0.names = [Name.uri("mailto:alice@example.com")] } },
        HostileCase("id-nul-in-certificate", .reject(1)) {
            try certified { $0.names = [Name.mailbox("alice@example.com\0.evil.test")] }
        },
        HostileCase("id-nul-in-certificate-dn", .reject(1)) {
            try certified {
                $0.names = []
                $0.subject = Name.withAddress("alice@example.com\0.evil.test")
            }
        },
        HostileCase("id-line-break-in-certificate", .reject(1)) {
            try certified { $0.names = [Name.mailbox("alice@example.com\r\nX: y")] }
        },
        HostileCase("id-line-break-beside-address", .reject(1)) {
            try certified { $0.names = [Name.mailbox("alice@example.com"), Name.mailbox("x\r\ny@example.com")] }
        },
        HostileCase("id-blank-in-certificate", .reject(1)) {
            try certified { $0.names = [Name.mailbox(" alice@example.com")] }
        },
        HostileCase("id-display-name-in-certificate", .reject(1)) {
            try certified { $0.names = [Name.mailbox("Alice <alice@example.com>")] }
        },
        HostileCase("id-8-bit-in-rfc822-name", .reject(1)) {
            try certified(from: "alicé@example.com") { $0.names = [Name.mailbox("alicé@example.com")] }
        },
        HostileCase("id-smtp-utf8-other", .reject(1)) {
            try certified(from: "пётр@example.com") { $0.names = [Name.smtpUTF8("петр@example.com")] }
        },
        HostileCase("id-smtp-utf8-homograph", .reject(1)) {
            try certified { $0.names = [Name.smtpUTF8("\u{0430}lice@example.com")] }
        },
        HostileCase("id-smtp-utf8-of-another-type", .reject(1)) {
            try certified { $0.names = [Name.smtpUTF8("alice@example.com", of: 0x16)] }
        },
        HostileCase("id-smtp-utf8-nul", .reject(1)) {
            try certified { $0.names = [Name.smtpUTF8("alice@example.com\0.evil.test")] }
        },
        HostileCase("id-no-address", .reject(1, ["certificate-no-address"])) { try certified { $0.names = [] } },
        HostileCase("id-no-address-but-name", .reject(1)) { try certified { $0.names = [Name.host("example.com")] } },
    ]

    private static let header = [
        HostileCase("id-several-mailboxes", .reject(1, ["from-several"])) {
            try from("From: alice@example.com, bob@example.com")
        },
        HostileCase("id-several-mailboxes-without-signer", .reject(1)) {
            try from("From: bob@example.com, carol@example.com")
        },
        HostileCase("id-group", .reject(1, ["from-group"])) {
            try from("From: us: alice@example.com, bob@example.com;")
        },
        HostileCase("id-empty-group", .reject(1)) { try from("From: undisclosed:;") },
        HostileCase("id-route", .reject(1, ["from-route"])) { try from("From: <@evil.test:alice@example.com>") },
        HostileCase("id-from-empty", .reject(1, ["from-missing"])) { try from("From:") },
        HostileCase("id-from-missing", .reject(1, ["from-missing"])) { try from("X-From: alice@example.com") },
        HostileCase("id-from-malformed", .reject(1)) { try from("From: alice") },
        HostileCase("id-from-unbalanced", .reject(1)) { try from("From: alice@example.com <") },
        HostileCase("id-display-name-poses", .reject(1, ["from-display-name"])) {
            try from("From: \"ceo@bank.test\" <alice@example.com>")
        },
        HostileCase("id-display-name-poses-unquoted", .reject(1, ["from-display-name"])) {
            try from("From: ceo@bank.test <alice@example.com>")
        },
        HostileCase("id-display-name-poses-after-words", .reject(1, ["from-display-name"])) {
            try from("From: The Boss ceo@bank.test<alice@example.com>")
        },
        HostileCase("id-display-name-poses-in-comment", .reject(1, ["from-display-name"])) {
            try from("From: Alice (ceo@bank.test) <alice@example.com>")
        },
        HostileCase("id-display-name-poses-encoded", .reject(1, ["from-display-name"])) {
            try from("From: =?utf-8?b?Y2VvQGJhbmsudGVzdA==?= <alice@example.com>")
        },
        HostileCase("id-display-name-poses-fullwidth", .reject(1)) {
            try from("From: =?utf-8?q?ceo=EF=BC=A0bank=2Etest?= <alice@example.com>")
        },
    ]

    /// A second From field that only some programs see.
    private static let hidden = [
        HostileCase("id-second-from-behind-many-lines", .reject) {
            try from(
                "From: alice@example.com",
                "no field",
                String(repeating: String(repeating: "x", count: 900) + "\r\n", count: 100) + "From: ceo@bank.test"
            )
        },
        HostileCase("id-second-from-far-in-the-header", .reject(1, ["from-doubled"])) {
            let fields = String(repeating: "X-A: \(String(repeating: "x", count: 900))\r\n", count: 100)
            return try from("From: alice@example.com", fields + "From: ceo@bank.test")
        },
        HostileCase("id-second-from-in-junk-itself", .reject) {
            try from("From: alice@example.com", "\u{B}From: ceo@bank.test")
        },
        HostileCase("id-second-from-behind-empty-name", .reject) {
            try from("From: alice@example.com", ": x", "From: ceo@bank.test")
        },
        HostileCase("id-second-from-behind-mailbox-line", .reject) {
            try from("From: alice@example.com", "From x Mon Nov 23 12:00:00 2026", "From: ceo@bank.test")
        },
        HostileCase("id-second-from-behind-return", .reject) {
            try from("From: alice@example.com", "no field\rFrom: ceo@bank.test")
        },
        HostileCase("id-second-from-behind-form-feed", .reject) {
            try from("From: alice@example.com", "X-A: b\u{C}From: ceo@bank.test")
        },
        HostileCase("id-second-from-behind-line-separator", .reject) {
            try from("From: alice@example.com", "X-A: b\u{2028}From: ceo@bank.test")
        },
        HostileCase("id-second-from-with-odd-name", .reject) {
            try from("From: alice@example.com", "\"From\": ceo@bank.test")
        },
        HostileCase("id-second-from-behind-blanks", .reject(1, ["from-doubled"])) {
            try from("From: alice@example.com", "X-A: b", " ", "From: ceo@bank.test")
        },
        HostileCase("id-from-behind-blanks", .reject(1, ["from-malformed"])) {
            try from("Sender: ceo@bank.test", "X-A: b", " ", "From: alice@example.com")
        },
        HostileCase("id-from-behind-blanks-of-report", .accept) { try from("X-A: b", " ", "From: alice@example.com") },
        HostileCase("id-second-from-behind-bare-line-feeds", .reject) {
            try from("From: alice@example.com", "X-A: b\n\n\r\nFrom: ceo@bank.test")
        },
    ]

    /// From fields in which some programs read or display another address.
    private static let shown = [
        "us: alice@example.com", "us: alice@example.com;", "alice@example.com;", "Alice; <alice@example.com>",
        "Alice: <alice@example.com>", "alice@example.com,", ",alice@example.com", "<alice@example.com> ceo@bank.test",
        "<alice@example.com><ceo@bank.test>", "=?utf-8?q?alice?=@example.com", "Alice [x] <alice@example.com>",
        "\"ceo @ bank.test\" <alice@example.com>", "x=?utf-8?q?ceo=40bank.test?= <alice@example.com>",
        "=?x-none?q?ceo=40bank.test?= <alice@example.com>", "=?utf-7?q?ceo+AEA-bank.test?= <alice@example.com>",
        "Alice (ceo@bank.test) <alice@example.com>", "alice(<ceo@bank.test>)@example.com", "alice@example.com\u{B}",
    ].enumerated().map { number, body in
        HostileCase("id-read-otherwise-\(number)", .reject(1)) { try from("From: \(body)") }
    }

    private static let harmless = [
        HostileCase("id-name-with-comma", .accept) { try from("From: \"Team, Alice\" <alice@example.com>") },
        HostileCase("id-name-with-colon", .accept) { try from("From: \"Alice: at; work\" <alice@example.com>") },
        HostileCase("id-name-encoded", .accept) { try from("From: =?utf-8?q?Team=2C_Alice?= <alice@example.com>") },
        HostileCase("id-name-is-own-address", .accept) {
            try from("From: \"Alice@Example.com\" <alice@example.com>")
        },
        HostileCase("id-name-with-lone-at", .accept) { try from("From: \"Alice @ work\" <alice@example.com>") },
        HostileCase("id-comments", .accept) {
            try from("From: Alice (of \\) Wonderland) <alice(hers)@example.com(too)> (end)")
        },
        HostileCase("id-other-case", .accept) { try from("From: ALICE@Example.COM") },
        HostileCase("id-other-case-in-certificate", .accept) {
            try certified { $0.names = [Name.mailbox("Alice@EXAMPLE.com")] }
        },
        HostileCase("id-display-name", .accept) { try from("From: Alice <alice@example.com>") },
        HostileCase("id-comment", .accept) { try from("From: alice@example.com (Alice)") },
        HostileCase("id-folded", .accept) { try from("From: Alice\r\n <alice@example.com>") },
        HostileCase("id-quoted-local-part", .accept) { try from("From: \"alice\"@example.com") },
        HostileCase("id-dn-address", .accept) {
            try certified {
                $0.names = []
                $0.subject = Name.withAddress("alice@example.com")
            }
        },
        HostileCase("id-dn-address-beside-dns-name", .accept) {
            try certified {
                $0.names = [Name.host("example.com")]
                $0.subject = Name.withAddress("alice@example.com")
            }
        },
        HostileCase("id-second-of-several", .accept) {
            try certified { $0.names = [Name.mailbox("one@example.com"), Name.mailbox("alice@example.com")] }
        },
        HostileCase("id-smtp-utf8", .accept) {
            try certified(from: "пётр@example.com") { $0.names = [Name.smtpUTF8("пётр@example.com")] }
        },
        HostileCase("id-upper-case-u-label", .accept) {
            try certified(from: "petr@ПРИМЕР.test") { $0.names = [Name.mailbox("petr@xn--e1afmkfd.test")] }
        },
        HostileCase("id-smtp-utf8-a-label", .accept) {
            try certified(from: "пётр@пример.test") { $0.names = [Name.smtpUTF8("пётр@xn--e1afmkfd.test")] }
        },
        HostileCase("id-a-label-against-u-label", .accept) {
            try certified(from: "petr@пример.test") { $0.names = [Name.mailbox("petr@xn--e1afmkfd.test")] }
        },
        HostileCase("id-u-label-against-a-label", .accept) {
            try certified(from: "ольга@xn--e1afmkfd.test") { $0.names = [Name.smtpUTF8("ольга@пример.test")] }
        },
        HostileCase("id-sender-and-from", .accept) { try from("From: alice@example.com", "Sender: alice@example.com") },
    ]
}
