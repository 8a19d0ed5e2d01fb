import Foundation

/// Decryption: messages that must be opened, and messages that must not.
enum DecryptionCases {
    static let all = refused + doubtful + harmless

    private static func gcm(
        _ plaintext: [UInt8] = MailForge.text,
        type: String = "authenveloped-data",
        _ change: (inout EnvelopedForge) throws -> Void = { _ in }
    ) throws -> [UInt8] {
        var forge = EnvelopedForge(gcm: plaintext, to: try Person.alice.get())
        try change(&forge)
        return MailForge().cms(try forge.encoded(), type)
    }

    private static func cbc(
        _ plaintext: [UInt8] = MailForge.text,
        _ change: (inout EnvelopedForge) throws -> Void = { _ in }
    ) throws -> [UInt8] {
        var forge = EnvelopedForge(cbc: plaintext, to: try Person.alice.get())
        try change(&forge)
        return MailForge().cms(try forge.encoded(), "enveloped-data")
    }

    private static func refusal(
        _ name: String,
        _ status: Int32? = 65,
        _ message: @escaping @Sendable () throws -> [UInt8]
    ) -> HostileCase { HostileCase(name, .reject(status), verb: ["decrypt"], message) }

    private static func success(
        _ name: String,
        _ codes: [String] = [],
        _ message: @escaping @Sendable () throws -> [UInt8]
    ) -> HostileCase { HostileCase(name, .accept(codes), verb: ["decrypt"], message) }

    private static let refused =
        [
            refusal("dec-tag-changed") { try gcm { $0.tagAfterwards = { $0.dropLast() + [0] } } },
            refusal("dec-tag-missing") { try gcm { $0.tagAfterwards = { _ in nil } } },
            refusal("dec-tag-empty") { try gcm { $0.tagAfterwards = { _ in [] } } },
            refusal("dec-tag-longer") { try gcm { $0.tagAfterwards = { $0 + [0] } } },
            refusal("dec-tag-12-announced-as-16") { try gcm { $0.tagAfterwards = { Array($0.prefix(12)) } } },
            refusal("dec-nonce-empty") { try gcm { $0.parameters = TLV.sequence(TLV.octets([]), TLV.integer(16)) } },
            refusal("dec-nonce-other") {
                try gcm { $0.parameters = TLV.sequence(TLV.octets([UInt8](repeating: 8, count: 12)), TLV.integer(16)) }
            },
            refusal("dec-ciphertext-changed") {
                try gcm { $0.ciphertextAfterwards = { [$0[0] ^ 1] + $0.dropFirst() } }
            },
            refusal("dec-ciphertext-truncated") { try gcm { $0.ciphertextAfterwards = { $0.dropLast() } } },
            refusal("dec-ciphertext-longer") { try gcm { $0.ciphertextAfterwards = { $0 + [0] } } },
            refusal("dec-attributes-not-covered") {
                try gcm {
                    $0.authenticatedAttributes = [Attributes.contentType()]
                    $0.coversAttributes = false
                }
            },
            refusal("dec-cbc-in-auth-enveloped") {
                try gcm {
                    ($0.cipher, $0.cipherOID, $0.tagCount) = ("AES-256-CBC", OID.aes256CBC, 0)
                    $0.iv = [UInt8](repeating: 9, count: 16)
                    $0.tagAfterwards = { _ in [UInt8](repeating: 0, count: 16) }
                }
            },
            refusal("dec-smime-type-promises-authentication") {
                MailForge().cms(
                    try EnvelopedForge(cbc: MailForge.text, to: Person.alice.get()).encoded(),
                    "authenveloped-data"
                )
            },
            refusal("dec-gcm-in-enveloped") { try gcm(type: "enveloped-data") { $0.type = OID.envelopedData } },
            refusal("dec-gcm-key-downgraded-to-cbc") {
                // An attacker labels a GCM message as CBC, with chosen blocks as ciphertext, to use the recipient as an oracle
                // for the block cipher (RFC 9709). Here the blocks are the bytes 0 to 63.
                try cbc { $0.ciphertextAfterwards = { _ in (0..<64).map { UInt8($0) } } }
            },
            refusal("dec-not-for-us", 77) {
                var forge = EnvelopedForge(gcm: MailForge.text, to: try Person.alice.get())
                forge.recipients = [RecipientForge(try Person("encrypt-only"))]
                return MailForge().cms(try forge.encoded(), "authenveloped-data")
            },
            refusal("dec-no-recipients") { try gcm { $0.recipients = [] } },
            refusal("dec-password-recipient", 77) {
                try gcm {
                    $0.recipients = []
                    $0.rawRecipients = [
                        TLV.element(
                            0xA3,
                            TLV.integer(0),
                            TLV.element(
                                0xA0,
                                TLV.oid("1.2.840.113549.1.5.12"),
                                TLV.sequence(TLV.octets([1, 2, 3, 4]), TLV.integer(2048))
                            ),
                            TLV.sequence(
                                TLV.oid("1.2.840.113549.1.9.16.3.9"),
                                TLV.sequence(TLV.oid(OID.aes256CBC), TLV.octets([UInt8](repeating: 1, count: 16)))
                            ),
                            TLV.octets([UInt8](repeating: 1, count: 48))
                        )
                    ]
                }
            },
            refusal("dec-other-key") {
                try gcm { forge in
                    let bob = try Person.bob.get()
                    forge.recipients[0].wrap = { try bob.key.encrypt($0) }
                }
            },
            refusal("dec-encrypted-key-empty") { try gcm { $0.recipients[0].wrap = { _ in [] } } },
            refusal("dec-encrypted-key-short") { try gcm { $0.recipients[0].wrap = { _ in [1, 2, 3] } } },
            refusal("dec-encrypted-key-too-great") {
                try gcm { $0.recipients[0].wrap = { _ in [UInt8](repeating: 0xFF, count: 256) } }
            },
            refusal("dec-key-of-other-length") {
                try gcm { forge in
                    let alice = try Person.alice.get()
                    forge.recipients[0].wrap = { try alice.key.encrypt(Array($0.prefix(16))) }
                }
            },
            refusal("dec-second-recipient-right") {
                // Two RecipientInfos for alice: the first one is damaged, and no other one is tried.
                try gcm { forge in
                    let good = forge.recipients[0]
                    forge.recipients[0].wrap = { _ in [UInt8](repeating: 1, count: 256) }
                    forge.recipients.append(good)
                }
            },
            refusal("dec-unknown-cipher") { try gcm { $0.cipherOID = "1.2.3.4.5" } },
            refusal("dec-unknown-key-transport", 65) {
                try gcm { $0.recipients[0].algorithm = TLV.sequence(TLV.oid("1.2.3.4.5")) }
            },
            refusal("dec-oaep-claimed") {
                try gcm { $0.recipients[0].algorithm = TLV.sequence(TLV.oid(OID.rsaOAEP), TLV.sequence()) }
            },
            refusal("dec-oaep-malformed-parameters", nil) {
                try gcm {
                    let odd = TLV.sequence(TLV.explicit(7, TLV.null))
                    $0.recipients[0].algorithm = TLV.sequence(TLV.oid(OID.rsaOAEP), odd)
                }
            },
            refusal("dec-cbc-padding-wrong") {
                try cbc { $0.ciphertextAfterwards = { $0.dropLast(1) + [$0[$0.count - 1] ^ 1] } }
            },
            refusal("dec-cbc-padding-zero") {
                try cbc(MailForge.text + [UInt8](repeating: 0, count: 16 - MailForge.text.count % 16)) {
                    $0.isPadded = false
                }
            },
            refusal("dec-cbc-padding-17") {
                try cbc(MailForge.text + [UInt8](repeating: 17, count: 16 - MailForge.text.count % 16)) {
                    $0.isPadded = false
                }
            },
            refusal("dec-cbc-no-whole-blocks") { try cbc { $0.ciphertextAfterwards = { $0 + [1, 2, 3] } } },
            refusal("dec-cbc-empty-ciphertext") { try cbc { $0.ciphertextAfterwards = { _ in [] } } },
            refusal("dec-cbc-first-block-changed") {
                try cbc { $0.ciphertextAfterwards = { [UInt8](repeating: 3, count: 16) + $0.dropFirst(16) } }
            },
            refusal("dec-cbc-block-removed") {
                try cbc(MailForge.text + MailForge.text) { $0.ciphertextAfterwards = { Array($0.dropFirst(16)) } }
            },
            refusal("dec-cbc-no-entity") { try cbc([UInt8](repeating: 0x80, count: 100)) },
            refusal("dec-cbc-text-with-nul") { try cbc(Array("text with\0 a zero byte\r\n".utf8)) },
            refusal("dec-cbc-text-with-escape") { try cbc(Array("text \u{1B}[2J that clears the screen\r\n".utf8)) },
            refusal("dec-cbc-text-with-control") { try cbc(Array("text with \u{9B} for ESC [\r\n".utf8)) },
            refusal("dec-cbc-text-in-latin-1") { try cbc([0x67, 0x72, 0xFC, 0xDF, 0x65, 0x0D, 0x0A]) },
            refusal("dec-cbc-text-cut-in-a-character") { try cbc(Array("gr".utf8) + [0xC3]) },
            refusal("dec-cbc-text-and-noise") {
                try cbc(Array(String(repeating: "clean for long\r\n", count: 5_000).utf8) + [0xFF])
            },
            refusal("dec-gcm-no-entity") { try gcm([UInt8](repeating: 0x80, count: 100)) },
            HostileCase("dec-cbc-text", .accept(["no-mime-header", "unauthenticated"]), verb: ["decrypt"]) {
                try cbc(Array("this is no MIME entity at all\r\n".utf8))
            },
            HostileCase("dec-cbc-text-of-a-word", .accept(["no-mime-header", "unauthenticated"]), verb: ["decrypt"]) {
                try cbc(Array("yes".utf8))
            },
            HostileCase("dec-gcm-text-in-utf-8", .accept(["no-mime-header"]), verb: ["decrypt"]) {
                try gcm(Array("größer als 10 €\tund 𝒳\u{C}\n".utf8))
            },
            refusal("dec-cbc-iv-short") { try cbc { $0.parameters = TLV.octets([1, 2, 3]) } },
            refusal("dec-cbc-no-iv") { try cbc { $0.parameters = [] } },
            refusal("dec-not-encrypted") { try SignedCases.detached() },
            refusal("dec-plain-mail") { MailForge().mail(MailForge.text) },
            refusal("dec-truncated-object") {
                MailForge().cms(
                    try EnvelopedForge(gcm: MailForge.text, to: Person.alice.get()).encoded().dropLast(30),
                    "authenveloped-data"
                )
            },
            refusal("dec-truncated-cbc-object") {
                MailForge().cms(
                    try EnvelopedForge(cbc: MailForge.text, to: Person.alice.get()).encoded().dropLast(3),
                    "enveloped-data"
                )
            },
            refusal("dec-empty") { [] },
        ]
        + [1, 4, 8, 11, 17].map { count in
            refusal("dec-tag-of-\(count)") {
                try gcm {
                    $0.parameters = TLV.sequence(TLV.octets($0.iv), TLV.integer(count))
                    $0.tagAfterwards = { Array(($0 + [0]).prefix(count)) }
                }
            }
        } + agreement

    /// Messages made by our own writer, whose key agreement is then manipulated.
    private static let agreement = KeyAgreementTampering.allCases.map { tampering in
        refusal("dec-ecdh-\(tampering.rawValue)") {
            MailForge().cms(try tampering.apply(to: EnvelopedSample.carol()), "authenveloped-data")
        }
    }

    private static let doubtful = [
        success("dec-cbc") { try cbc() },
        success("dec-cbc-128") {
            try cbc {
                ($0.cipher, $0.cipherOID) = ("AES-128-CBC", OID.aes128CBC)
                $0.key = Array($0.key.prefix(16))
            }
        },
        refusal("dec-part-between-others", nil) {
            let part = CMSPart.entity(
                try EnvelopedForge(gcm: MailForge.text, to: Person.alice.get()).encoded(),
                "authenveloped-data"
            )
            return MailForge().mail(Multipart.entity("mixed", SignedCases.evil, part, SignedCases.evil))
        },
        HostileCase("dec-inner-signature-of-another-person", .warn, verb: ["decrypt"]) {
            // Bob's signed mail to alice, which mallory encrypts again as her own (surreptitious forwarding).
            let inner = SignedShape().entity(
                MailForge.text,
                signature: try SignedForge(MailForge.text, by: Person.bob.get()).encoded()
            )
            var mail = MailForge(from: "mallory@example.com")
            mail.header[1] = "To: alice@example.com"
            return mail.cms(try EnvelopedForge(gcm: inner, to: Person.alice.get()).encoded(), "authenveloped-data")
        },
    ]

    private static let harmless = [
        success("dec-gcm-256") { try gcm() },
        success("dec-gcm-128") {
            try gcm {
                ($0.cipher, $0.cipherOID) = ("AES-128-GCM", OID.aes128GCM)
                $0.key = Array($0.key.prefix(16))
            }
        },
        success("dec-gcm-default-tag") {
            try gcm {
                $0.tagCount = 12
                $0.parameters = TLV.sequence(TLV.octets($0.iv))
            }
        },
        success("dec-gcm-tag-13") { try gcm { $0.tagCount = 13 } },
        success("dec-authenticated-attributes") {
            try gcm { $0.authenticatedAttributes = [Attributes.contentType(), Attributes.time()] }
        },
        success("dec-unauthenticated-attributes") {
            try gcm { $0.unauthenticatedAttributes = [Attributes.make("1.2.3.4.5", TLV.utf8("hi"))] }
        },
        success("dec-key-identifier") {
            try gcm { forge in
                forge.recipients[0].version = 2
                forge.recipients[0].identifier = TLV.element(0x80, try Person.alice.get().keyIdentifier)
            }
        },
        success("dec-1000-recipients") {
            try gcm { forge in
                var other = RecipientForge(try Person("encrypt-only"))
                other.wrap = { _ in [UInt8](repeating: 1, count: 256) }
                forge.recipients = Array(repeating: other, count: 999) + forge.recipients
            }
        },
        success("dec-unknown-recipients-beside") {
            try gcm { $0.rawRecipients = [TLV.element(0xA4, TLV.oid("1.2.3.4.5"), TLV.octets([1]))] }
        },
        success("dec-key-identifier-with-date-beside") {
            try gcm {
                let octets = [UInt8](repeating: 0x6B, count: 20)
                $0.rawRecipients = [(true, false), (false, true), (true, true)].map {
                    EnvelopedSample.stranger(EnvelopedSample.keyIdentifier(octets, date: $0.0, other: $0.1))
                }
            }
        },
        success("dec-ecdh-key-identifier-with-date") {
            let octets = try Person.carol.get().keyIdentifier
            let object = EnvelopedSample.rebuildRecipient(in: try EnvelopedSample.carol()) { parts in
                parts[3] = TLV.rebuild(parts[3]) { keys in
                    keys[0] = TLV.rebuild(keys[0]) {
                        $0[0] = EnvelopedSample.keyIdentifier(octets, date: true, other: true)
                    }
                }
            }
            return MailForge().cms(object, "authenveloped-data")
        },
        success("dec-malformed-parameters-beside") {
            try gcm {
                let stranger = try Person("encrypt-only").issuerAndSerial
                let odd = TLV.sequence(TLV.oid(OID.rsaOAEP), TLV.sequence(TLV.explicit(7, TLV.null)))
                let key = TLV.octets([UInt8](repeating: 7, count: 256))
                $0.rawRecipients = [TLV.sequence(TLV.integer(0), stranger, odd, key)]
            }
        },
        success("dec-empty-content") { try gcm(Array("Content-Type: text/plain\r\n\r\n".utf8)) },
        success("dec-smime-type-understated", ["smime-type-understated"]) { try gcm(type: "enveloped-data") },
        success("dec-ecdh") { MailForge().cms(try EnvelopedSample.carol(), "authenveloped-data") },
        success("dec-lf-transport") { try gcm().filter { $0 != 13 } },
    ]
}
