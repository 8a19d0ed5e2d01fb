import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

@Suite struct PKCS12Tests {
    private func read(_ name: String, passphrase: String? = "test") throws(CMSError) -> PKCS12 {
        guard let bytes = try? Fixtures.cert("p12-cases/\(name).p12") else { throw .malformed(.pkcs12, "no fixture") }
        guard let passphrase else { return try PKCS12(bytes, passphrase: nil) }
        return try PKCS12(bytes, passphrase: Passphrase(passphrase.utf8))
    }

    @Test(arguments: [
        "modern", "aes128-sha512", "legacy-rc2", "legacy-3des", "legacy-rc4", "one-iteration", "unencrypted",
        "friendly-name", "pem-armoured", "indefinite-length", "chain-first",
    ])
    func `every PKCS#12 form in use gives alice and her chain`(name: String) throws {
        let file = try read(name)
        let identity = try #require(file.identities.first)
        #expect(file.identities.count == 1)
        #expect(try identity.certificate == Certificate(fixture: "alice/cert.pem"))
        #expect(identity.key.belongs(to: identity.certificate))
        #expect(try Set(file.certificates) == Set(Certificate.all(fixture: "alice/chain.pem")))
        #expect(file.problems.isEmpty)
    }

    @Test func `text before a PEM block may begin with any character`() throws {
        let bytes = try Array("0 lines\n".utf8) + Fixtures.cert("p12-cases/pem-armoured.p12")
        #expect(PKCS12.isPKCS12(bytes))
        #expect(try PKCS12(bytes, passphrase: Passphrase("test".utf8)).identities.count == 1)
    }

    @Test func `an empty passphrase opens files made without one, and the reverse`() throws {
        for (name, passphrase) in [
            ("empty-password", ""), ("empty-password", nil), ("absent-password", nil), ("absent-password", ""),
        ] {
            #expect(try read(name, passphrase: passphrase).identities.count == 1)
        }
    }

    @Test func `a non-ASCII passphrase works composed or decomposed`() throws {
        let passphrase = "Пароль-žluť-😀"
        #expect(try read("utf8-password", passphrase: passphrase).identities.count == 1)
        #expect(
            try read("utf8-password", passphrase: passphrase.decomposedStringWithCanonicalMapping).identities.count == 1
        )
        #expect(throws: CMSError.wrongPassphrase) { try self.read("utf8-password", passphrase: "Пароль") }
    }

    @Test func `a friendly name is returned unchanged`() throws {
        #expect(try read("friendly-name").identities.first?.friendlyName == "Алиса — ключ")
    }

    @Test func `each of several keys is matched with its certificate`() throws {
        let file = try read("two-identities")
        #expect(
            try Set(file.identities.map(\.certificate)) == [
                Certificate(fixture: "alice/cert.pem"), Certificate(fixture: "bob/cert.pem"),
            ]
        )
        #expect(file.identities.allSatisfy { $0.key.belongs(to: $0.certificate) })
        let split = try PKCS12(Fixtures.cert("split/split.p12"), passphrase: Passphrase("test".utf8))
        #expect(split.identities.count == 2)
        let dana = try PKCS12(Fixtures.cert("dana/dana.p12"), passphrase: Passphrase("test".utf8))
        #expect(Set(dana.identities.map(\.key.algorithm)) == [.ed25519, .x25519])
    }

    @Test(arguments: ["modern", "legacy-rc2", "legacy-3des", "unencrypted", "no-mac"])
    func `a wrong passphrase is told apart from a broken file`(name: String) {
        #expect(throws: CMSError.wrongPassphrase) { try self.read(name, passphrase: "wrong") }
        #expect(throws: CMSError.wrongPassphrase) { try self.read(name, passphrase: nil) }
    }

    @Test(arguments: ["mismatched-key", "key-only", "cert-only"])
    func `a file without a pair of key and certificate is refused`(name: String) {
        #expect(throws: CMSError.noKeyPair) { try self.read(name) }
    }

    @Test(arguments: ["truncated", "garbage", "empty"])
    func `bytes that are no PKCS#12 file are malformed`(name: String) throws {
        let error = #expect(throws: CMSError.self) { try self.read(name) }
        guard case .malformed(.pkcs12, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `an empty file, one of another kind and a truncated one have different errors`() throws {
        let foreign = "it is no PKCS#12 file, neither in DER nor in PEM"
        for (name, why) in [("empty", "it is empty"), ("garbage", foreign), ("truncated", "truncated at byte 0")] {
            #expect(throws: CMSError.malformed(.pkcs12, why)) { try self.read(name) }
        }
        #expect(throws: CMSError.malformed(.keyMaterial, "it is empty")) { try KeyMaterial.read([]) }
    }

    @Test(.timeLimit(.minutes(15))) func `too many PKCS#12 iterations are refused before deriving a key`() {
        #expect(throws: CMSError.limitExceeded("key derivation iterations")) { try self.read("iteration-bomb") }
    }

    @Test(arguments: [("no-mac", "pkcs12-no-mac"), ("trailing-bytes", "pkcs12-trailing-bytes")])
    func `deviations in a PKCS#12 file are reported`(name: String, code: String) throws {
        let file = try read(name)
        #expect(file.identities.count == 1)
        #expect(file.problems.map(\.code) == [code])
        #expect(file.problems.allSatisfy { $0.level == .warning })
    }

    @Test func `every prefix of a file fails cleanly`() throws {
        let bytes = try Fixtures.cert("p12-cases/one-iteration.p12")
        for count in stride(from: 0, to: bytes.count, by: 37) {
            #expect(throws: CMSError.self) {
                try PKCS12(Array(bytes.prefix(count)), passphrase: Passphrase("test".utf8))
            }
        }
    }

    @Test func `changed bytes give an error or the whole identity`() throws {
        let bytes = try Fixtures.cert("p12-cases/one-iteration.p12")
        for index in stride(from: 0, to: bytes.count, by: 11) {
            var changed = bytes
            changed[index] ^= 0x80
            if let file = try? PKCS12(changed, passphrase: Passphrase("test".utf8)) {
                #expect(file.identities.allSatisfy { $0.key.belongs(to: $0.certificate) })
            }
        }
    }

    @Test func `a PKCS#12 file is recognized and outlined without its passphrase`() throws {
        #expect(try PKCS12.isPKCS12(Fixtures.cert("p12-cases/modern.p12")))
        #expect(try PKCS12.isPKCS12(Fixtures.cert("p12-cases/pem-armoured.p12")))
        #expect(try !PKCS12.isPKCS12(Fixtures.cert("alice/key.pem")))
        #expect(try !PKCS12.isPKCS12(Certificate(fixture: "alice/cert.pem").der))
        let outline = try PKCS12Outline(Fixtures.cert("p12-cases/legacy-rc2.p12"))
        #expect(outline.mac?.hasPrefix("HMAC-SHA1") == true)
        #expect(outline.parts.contains { $0.encryption?.hasPrefix("RC2-40") == true })
        #expect(outline.parts.contains { $0.bags == ["encrypted keys": 1] && $0.keyEncryptions[0].hasPrefix("3DES") })
        #expect(try PKCS12Outline(Fixtures.cert("p12-cases/no-mac.p12")).mac == nil)
    }
}

@Suite struct PKCS12EncodingTests {
    @Test(arguments: PKCS12.Compatibility.allCases)
    func `a written PKCS#12 file is read here and by openssl`(compatibility: PKCS12.Compatibility) throws {
        let source = try PKCS12(Fixtures.cert("p12-cases/two-identities.p12"), passphrase: Passphrase("test".utf8))
        let passphrase = "Grüße 😀"
        let bytes = try PKCS12.encode(
            source.identities,
            chain: source.certificates,
            passphrase: Passphrase(passphrase.utf8),
            compatibility: compatibility
        )
        let again = try PKCS12(bytes, passphrase: Passphrase(passphrase.utf8))
        #expect(again.identities.map(\.certificate) == source.identities.map(\.certificate))
        #expect(again.certificates == source.certificates)
        #expect(again.problems.isEmpty)

        let openssl = try OpenSSLCommand()
        try Data(bytes).write(to: openssl.folder.appending(path: "our.p12"))
        let result = try CommandRunner("openssl", folder: openssl.folder)
            .run(["pkcs12", "-in", "our.p12", "-passin", "pass:\(passphrase)", "-nodes", "-out", "out.pem"])
        try #require(result.status == 0, "\(result.errorText)")
        let items = try KeyMaterial.read(Array(Data(contentsOf: openssl.folder.appending(path: "out.pem"))))
        #expect(items.count == source.identities.count * 2 + source.certificates.count)
    }

    @Test(arguments: PKCS12.Compatibility.allCases)
    func `the maximum number of keys is written and read again, and more are refused`(
        compatibility: PKCS12.Compatibility
    ) throws {
        let key = try PrivateKey(pem: Fixtures.cert("carol/key.pem"), passphrase: nil)
        let identity = try Identity(unchecked: Certificate(fixture: "carol/cert.pem"), key)
        func encode(_ count: Int) throws -> [UInt8] {
            let identities = Array(repeating: identity, count: count)
            return try PKCS12.encode(identities, passphrase: Passphrase("x".utf8), compatibility: compatibility)
        }
        let file = try PKCS12(encode(PKCS12.maximumKeys), passphrase: Passphrase("x".utf8))
        #expect(file.identities.map(\.certificate) == [identity.certificate])
        #expect(throws: CMSError.limitExceeded("keys in a PKCS#12 file")) { try encode(PKCS12.maximumKeys + 1) }
    }

    @Test func `keys match their certificates, also with compressed points`() throws {
        var factory = try CertificateFactory()
        try factory.sh(
            """
            openssl ecparam -name prime256v1 -genkey -noout -out long.key
            openssl ec -in long.key -conv_form compressed -out short.key 2>/dev/null
            """
        )
        try factory.issue("short", subject: "/CN=Short", extensions: CertificateFactory.person("a@example.com"))
        let keys = try ["dana/key.pem", "alice/key.pem"].map { try PrivateKey(pem: Fixtures.cert($0), passphrase: nil) }
        let long = try factory.key("long")
        let index = PrivateKeyIndex([long] + keys + [long])
        let short = try factory.certificate("short")
        #expect(long.publicKeyInfo != short.publicKeyInfo)
        #expect(index.places(for: short) == [0, 3])
        #expect(try index.places(for: Certificate(fixture: "alice/cert.pem")) == [2])
        #expect(try index.places(for: Certificate(fixture: "bob/cert.pem")) == [])
    }

    @Test func `each kind of key is written and read again`() throws {
        for name in ["carol", "p521", "dana", "pss"] {
            let key = try PrivateKey(pem: Fixtures.cert("\(name)/key.pem"), passphrase: nil)
            let identity = try Identity(unchecked: Certificate(fixture: "\(name)/cert.pem"), key)
            let bytes = try PKCS12.encode([identity], passphrase: Passphrase("x".utf8), compatibility: .legacy)
            #expect(try PKCS12(bytes, passphrase: Passphrase("x".utf8)).identities.count == 1)
        }
    }
}
