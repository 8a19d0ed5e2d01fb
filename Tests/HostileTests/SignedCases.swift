import Foundation

/// Signed data.
enum SignedCases {
    static let all = broken + attributes + algorithms + structure + harmless

    /// A multipart/signed mail from alice over the usual text, modified by `change` before it is assembled.
    static func detached(
        _ content: [UInt8] = MailForge.text,
        by person: Result<Person, any Error> = Person.alice,
        shown: [UInt8]? = nil,
        from: String = "alice@example.com",
        _ change: (inout SignedForge) throws -> Void = { _ in }
    ) throws -> [UInt8] {
        var forge = SignedForge(content, by: try person.get())
        try change(&forge)
        return MailForge(from: from).signed(shown ?? content, signature: try forge.encoded())
    }

    /// The same with embedded content.
    static func opaque(
        _ content: [UInt8] = MailForge.text,
        by person: Result<Person, any Error> = Person.alice,
        from: String = "alice@example.com",
        _ change: (inout SignedForge) throws -> Void = { _ in }
    ) throws -> [UInt8] {
        var forge = SignedForge(content, by: try person.get(), isDetached: false)
        try change(&forge)
        return MailForge(from: from).cms(try forge.encoded())
    }

    static let evil = Array("Content-Type: text/plain\r\n\r\nI owe you a million.\r\n".utf8)

    /// A part with another author and an S/MIME layer inside that cannot be read.
    private static let unreadableLayer = Array(
        """
        From: bob@example.com
        Content-Type: application/pkcs7-mime; smime-type=signed-data; hp="clear"
        Content-Transfer-Encoding: base64

        AAAA

        """.replacing("\n", with: "\r\n").utf8
    )

    private static let broken = [
        HostileCase("sig-inner-unreadable", .reject(1, ["inner-signature", "protected-from-mismatch"])) {
            try detached(unreadableLayer)
        },
        HostileCase("sig-inner-unreadable-opaque", .reject(1, ["inner-signature", "protected-from-mismatch"])) {
            try opaque(unreadableLayer)
        },
        HostileCase("sig-content-changed", .reject(1, ["content-changed"])) { try detached(shown: evil) },
        HostileCase("sig-content-changed-opaque", .reject(1, ["content-changed"])) { try opaque { $0.content = evil } },
        HostileCase("sig-content-truncated", .reject(1)) { try detached(shown: Array(MailForge.text.dropLast(6))) },
        HostileCase("sig-content-line-added", .reject(1)) { try detached(shown: MailForge.text + [13, 10]) },
        HostileCase("sig-part-header-changed", .reject(1)) {
            try detached(shown: Array("Content-Type: text/html".utf8) + MailForge.text.dropFirst(24))
        },
        HostileCase("sig-signature-changed", .reject(1, ["signature-invalid"])) {
            try detached { $0.signers[0].signatureAfterwards = { $0.dropLast() + [$0.last.map { $0 ^ 1 } ?? 0] } }
        },
        HostileCase("sig-signature-empty", .reject) {
            try detached { $0.signers[0].signatureAfterwards = { _ in [] } }
        },
        HostileCase("sig-signature-zero", .reject(1)) {
            try detached { $0.signers[0].signatureAfterwards = { [UInt8](repeating: 0, count: $0.count) } }
        },
        HostileCase("sig-signature-one", .reject(1)) {
            try detached { $0.signers[0].signatureAfterwards = { [UInt8](repeating: 0, count: $0.count - 1) + [1] } }
        },
        HostileCase("sig-ecdsa-zero", .reject(1)) {
            try detached(by: Person.carol, from: "carol@example.com") {
                $0.signers[0].useECDSA()
                $0.signers[0].signatureAfterwards = { _ in TLV.sequence(TLV.integer(0), TLV.integer(0)) }
            }
        },
        HostileCase("sig-attributes-changed-afterwards", .reject(1, ["signature-invalid"])) {
            try detached {
                $0.signers[0].attributesAfterwards = { _ in
                    let value = (try? Attacker.digest(MailForge.text, "SHA256")) ?? []
                    return TLV.sortedSet([Attributes.contentType(), Attributes.digest(value)])
                }
            }
        },
        HostileCase("sig-of-other-key", .reject(1, ["signature-invalid"])) {
            try detached {
                let alice = try Person.alice.get()
                $0.signers[0].person = Person(certificate: alice.certificate, key: try Person.bob.get().key)
            }
        },
        HostileCase("sig-certs-only", .reject) {
            try opaque {
                $0.signers = []
                $0.content = nil
            }
        },
        HostileCase("sig-no-signers-with-content", .reject) { try opaque { $0.signers = [] } },
        HostileCase("sig-no-signers-detached", .reject) { try detached { $0.signers = [] } },
        HostileCase("sig-embedded-differs", .reject(1, ["content-mismatch"])) {
            try detached(shown: evil) { $0.content = MailForge.text }
        },
        HostileCase("sig-embedded-evil", .reject(1)) { try detached { $0.content = evil } },
        HostileCase("sig-embedded-empty", .reject) { try detached { $0.content = [] } },
    ]

    private static let structure = [
        HostileCase("sig-certificate-missing", .reject(1, ["signer-certificate-missing"])) {
            try detached(by: Result { try Person("p384") }, from: "p384@example.com") {
                $0.signers[0].useECDSA()
                $0.certificates = []
            }
        },
        HostileCase("sig-embedded-and-equal", .warn(["content-embedded"])) {
            try detached { $0.content = MailForge.text }
        },
        HostileCase("sig-second-signer-bad", .warn) {
            try detached { forge in
                let bob = try Person.bob.get()
                forge.certificates += [bob.certificate]
                var second = SignerForge(bob)
                second.signatureAfterwards = { $0.dropLast() + [0] }
                forge.signers.append(second)
            }
        },
        HostileCase("sig-first-signer-bad-who-is-from", .reject(1)) {
            try detached { forge in
                let bob = try Person.bob.get()
                forge.certificates += [bob.certificate]
                forge.signers[0].signatureAfterwards = { $0.dropLast() + [0] }
                forge.signers.append(SignerForge(bob))
            }
        },
        HostileCase("sig-smime-type-lies-encrypted", .reject(65)) {
            MailForge().cms(
                try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded(),
                "enveloped-data"
            )
        },
        HostileCase("sig-smime-type-lies-certs-only", .reject) {
            MailForge().cms(
                try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded(),
                "certs-only"
            )
        },
        HostileCase("sig-smime-type-lies-about-envelope", .reject(65)) {
            MailForge().cms(try EnvelopedForge(gcm: MailForge.text, to: Person.alice.get()).encoded(), "signed-data")
        },
        HostileCase("sig-protocol-lies", .reject) {
            var shape = SignedShape()
            shape.parameters = "protocol=\"application/pgp-signature\"; micalg=pgp-sha256"
            let forge = SignedForge(MailForge.text, by: try Person.alice.get())
            return MailForge().signed(MailForge.text, signature: try forge.encoded(), shape)
        },
        HostileCase("sig-envelope-as-signature", .reject(65)) {
            MailForge().signed(
                MailForge.text,
                signature: try EnvelopedForge(gcm: MailForge.text, to: Person.alice.get()).encoded()
            )
        },
        HostileCase("sig-content-type-not-data", .reject) {
            try opaque { forge in
                forge.contentType = OID.signedData
            }
        },
        HostileCase("sig-bare-content-type-not-data", .reject(1)) {
            try opaque { forge in
                forge.contentType = "1.2.840.113549.1.9.16.1.4"
                forge.signers[0].signedAttributes = nil
            }
        },
        HostileCase("sig-truncated", .reject(65)) {
            MailForge().cms(
                try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded().dropLast(40)
            )
        },
        HostileCase("sig-trailing-bytes", .warn) {
            MailForge().cms(
                try SignedForge(MailForge.text, by: Person.alice.get(), isDetached: false).encoded() + [1, 2, 3]
            )
        },
    ]

    private static let harmless = [
        HostileCase("sig-plain", .accept) { try detached() },
        HostileCase("sig-plain-opaque", .accept) { try opaque() },
        HostileCase("sig-no-attributes", .accept) { try detached { $0.signers[0].signedAttributes = nil } },
        HostileCase("sig-key-identifier", .accept) { try detached { $0.signers[0].useKeyIdentifier() } },
        HostileCase("sig-key-identifier-shared", .accept) {
            let alice = try Person.alice.get()
            // Another key under alice's key identifier.
            var other = CertificateForge(try Person.bob.get().key)
            let identifier = Extension.make("2.5.29.14", TLV.octets(alice.keyIdentifier))
            other.others = [identifier]
            let decoy = try other.signed(by: Authority.trusted.get(), ownIdentifier: false)
            return try detached {
                $0.certificates = [decoy, alice.certificate] + alice.chain
                $0.signers[0].useKeyIdentifier()
            }
        },
        HostileCase("sig-unknown-unsigned-attribute", .accept) {
            try detached { $0.signers[0].unsignedAttributes = [Attributes.make("1.2.3.4.5", TLV.utf8("hi"))] }
        },
        HostileCase("sig-unknown-signed-attribute", .accept) {
            try detached {
                $0.signers[0].signedAttributes = {
                    Attributes.usual($0) + [Attributes.make("1.2.3.4.5", TLV.utf8("hi"))]
                }
            }
        },
        HostileCase("sig-extra-certificates", .accept) {
            try detached {
                $0.certificates =
                    try ["dana", "bob", "untrusted-root", "carol"].compactMap {
                        $0 == "untrusted-root"
                            ? try PEMFile.blocks("untrusted/root.pem")[0] : try Person($0).certificate
                    } + $0.certificates.reversed()
            }
        },
        HostileCase("sig-attributes-unsorted", .accept) {
            // Signed in the order of DER, and sent in another order.
            try detached {
                $0.signers[0].attributesAfterwards = { TLV.element(0x31, TLV.children($0).reversed().flatMap { $0 }) }
            }
        },
        HostileCase("sig-generalized-time", .accept) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.digest($0), Attributes.time("20261101000000Z")]
                }
            }
        },
        HostileCase("sig-content-in-pieces", .accept) {
            try opaque { forge in
                forge.rawContent = TLV.indefinite(
                    0xA0,
                    TLV.indefinite(
                        0x24,
                        TLV.octets(Array(MailForge.text.prefix(7))) + TLV.octets(Array(MailForge.text.dropFirst(7)))
                    )
                )
            }
        },
        HostileCase("sig-two-signers-one-not-from", .warn) {
            try detached { forge in
                let bob = try Person.bob.get()
                forge.certificates += [bob.certificate]
                forge.signers.append(SignerForge(bob))
            }
        },
    ]
}
