import Foundation
import PKIX
import TestSupport
import Testing

@Suite struct KeyMaterialTests {
    @Test func `a file with text, certificates and a key gives all of them in order`() throws {
        let text = Array("Bag Attributes\r\n  friendlyName: alice\r\n".utf8)
        let bytes =
            try text + Fixtures.cert("alice/cert.pem") + text + Fixtures.cert("alice/chain.pem")
            + Fixtures.cert("alice/key.pem")
        let items = try KeyMaterial.read(bytes)
        #expect(items.map(\.kind) == ["certificate", "certificate", "certificate", "key"])
    }

    @Test func `line ends and blanks around the lines do not matter`() throws {
        let pem = try String(decoding: Fixtures.cert("alice/cert.pem"), as: UTF8.self)
        for text in [pem.replacing("\n", with: "\r\n"), pem.replacing("\n", with: " \n"), "\u{feff}\n" + pem] {
            #expect(try KeyMaterial.read(Array(text.utf8)).count == 1)
        }
    }

    @Test func `malformed blocks do not hide the other certificates from a reader that ignores them`() throws {
        func block(_ label: String, _ body: String) -> [UInt8] {
            Array("-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n".utf8)
        }
        let pem = try Fixtures.cert("alice/cert.pem")
        let alice = try Certificate(fixture: "alice/cert.pem")
        let bad = [
            block("CERTIFICATE", "MAA="), block("PKCS7", "MAA="), block("CERTIFICATE", "!"), block("PRIVATE KEY", "!"),
            Array("-----BEGIN CERTIFICATE-----\nMAA=\n".utf8),
        ]
        for bad in bad {
            for bytes in [bad + pem, pem + bad, [0xEF, 0xBB, 0xBF] + bad + pem] {
                #expect(throws: CMSError.self) { try KeyMaterial.read(bytes) }
                let found = KeyMaterial.certificates(in: bytes)
                #expect(found.certificates == [alice] && !found.isComplete, "\(String(decoding: bad, as: UTF8.self))")
            }
            let found = KeyMaterial.certificates(in: bad)
            #expect(found.certificates.isEmpty && !found.isComplete)
        }
        // A block around another one does not hide it either.
        for label in ["X", "PRIVATE KEY"] {
            let around = Array("-----BEGIN \(label)-----\n".utf8) + pem + Array("-----END \(label)-----\n".utf8)
            #expect(KeyMaterial.certificates(in: around).certificates == [alice])
        }
        // Files without a line end at their end may have been joined.
        let whole = try Fixtures.cert("carol/cert.pem")
        let cut = Array(whole.dropLast(whole.reversed().prefix { $0 == 0x0A }.count))
        for text in ["", "\n", " text", "--"] {
            let found = KeyMaterial.certificates(in: cut + Array(text.utf8) + pem)
            #expect(found.certificates.contains(alice) && found.certificates.count > 1 && found.isComplete)
        }
        #expect(KeyMaterial.certificates(in: [0] + Array("# text".utf8) + pem).certificates == [alice])
        for begin in ["-----BEGIN X\n", "-----BEGIN CERTIFICATE\n", "-----END X\n"] {
            #expect(KeyMaterial.certificates(in: Array(begin.utf8) + pem).certificates == [alice])
        }
        // The end of one file may be cut off, or not be an end at all.
        let marks = [
            "-----END FOO", "-----END ", "-----END CERTIFI", "-----END CERTIFICATE--", "-----END CERTIFICATE----",
            "-----BEGIN ", "-----BEGIN FOO", "-----END FOO\n",
        ]
        for mark in marks {
            let found = KeyMaterial.certificates(in: whole + Array(mark.utf8) + pem)
            #expect(found.certificates.contains(alice) && !found.isComplete, "\(mark)")
        }
        // Certificates in another form are not read, but they are noticed.
        let text = String(decoding: pem, as: UTF8.self)
        let bare = Array(text.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n").utf8)
        let lower = Array(text.replacing("BEGIN CERTIFICATE", with: "begin certificate").utf8)
        let label = Array(text.replacing("CERTIFICATE", with: "Certificate").utf8)
        for other in [alice.der, bare, lower, label] {
            #expect(!KeyMaterial.certificates(in: whole + other).isComplete)
        }
        let der = KeyMaterial.certificates(in: alice.der)
        #expect(der.certificates == [alice] && der.isComplete)
        let one = KeyMaterial.certificates(in: pem)
        #expect(one.certificates == [alice] && one.isComplete)
        #expect(!KeyMaterial.certificates(in: []).isComplete)
    }

    @Test func `one byte order mark at the beginning is skipped, and no more`() throws {
        let pem = try Fixtures.cert("alice/cert.pem")
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        #expect(try KeyMaterial.read(mark + pem).map(\.kind) == ["certificate"])
        for bytes in [mark, mark + mark] {
            #expect(throws: CMSError.self) { try KeyMaterial.read(bytes) }
        }
    }

    @Test func `DER and bare base64 are recognized`() throws {
        let der = try Certificate(fixture: "alice/cert.pem").der
        #expect(try KeyMaterial.read(der).map(\.kind) == ["certificate"])
        let base64 = Data(der).base64EncodedString(options: .lineLength76Characters)
        #expect(try KeyMaterial.read(Array(base64.utf8)).map(\.kind) == ["certificate"])
        #expect(try KeyMaterial.read(Fixtures.cert("revoked/crl.der")).map(\.kind) == ["list"])
        #expect(try KeyMaterial.read(Fixtures.cert("revoked/crl.pem")).map(\.kind) == ["list"])
        #expect(try KeyMaterial.read(Fixtures.cert("p12-cases/modern.p12")).map(\.kind) == ["pkcs12"])
        #expect(try KeyMaterial.read(Fixtures.cert("p12-cases/indefinite-length.p12")).map(\.kind) == ["pkcs12"])
        #expect(try KeyMaterial.read(Fixtures.cert("p12-cases/pem-armoured.p12")).map(\.kind) == ["pkcs12"])
    }

    @Test func `a private key is recognized in every form in which it can be read`() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let pem = try Fixtures.cert("alice/key.pem")
        let pkcs12 = try Fixtures.cert("p12-cases/modern.p12")
        let base64 = Array(Data(pkcs12).base64EncodedString(options: .lineLength76Characters).utf8)
        for bytes in [pem, mark + pem, Array("0 lines\n".utf8) + pem, pkcs12, mark + pkcs12, base64, mark + base64] {
            let kind = try KeyMaterial.read(bytes).first?.kind
            #expect(kind == "key" || kind == "pkcs12")
            #expect(KeyMaterial.mayHoldPrivateKey(bytes))
        }
        for count in 64..<68 { #expect(KeyMaterial.mayHoldPrivateKey(Array(base64.prefix(count)))) }
        let certificate = try Certificate(fixture: "alice/cert.pem").der
        let text = Array(Data(certificate).base64EncodedString(options: .lineLength76Characters).utf8)
        for bytes in [certificate, text, mark + text] { #expect(!KeyMaterial.mayHoldPrivateKey(bytes)) }
    }

    @Test(arguments: ["PEM", "DER"])
    func `all certificates are read from a PKCS#7 file`(form: String) throws {
        let openssl = try OpenSSLCommand()
        let chain = Fixtures.certs.appending(path: "alice/chain.pem").path
        let list = Fixtures.certs.appending(path: "revoked/crl.pem").path
        let result = try CommandRunner("openssl", folder: openssl.folder)
            .run(["crl2pkcs7", "-in", list, "-certfile", chain, "-outform", form, "-out", "bag.p7b"])
        try #require(result.status == 0, "\(result.errorText)")
        let bytes = try Array(Data(contentsOf: openssl.folder.appending(path: "bag.p7b")))
        #expect(try KeyMaterial.read(bytes).map(\.kind) == ["certificate", "certificate", "list"])
    }

    @Test func `only certificates of signers and authorities are read from signed mail`() throws {
        let openssl = try OpenSSLCommand()
        func path(_ name: String) -> String { Fixtures.certs.appending(path: name).path }
        try Data(Fixtures.cert("alice/chain.pem") + Fixtures.cert("bob/cert.pem"))
            .write(to: openssl.folder.appending(path: "others.pem"))
        let signer = ["-signer", path("alice/cert.pem"), "-inkey", path("alice/key.pem"), "-certfile", "others.pem"]
        let result = try CommandRunner("openssl", folder: openssl.folder)
            .run(["cms", "-sign", "-in", "others.pem", "-outform", "DER", "-out", "smime.p7s"] + signer)
        try #require(result.status == 0, "\(result.errorText)")
        let items = try KeyMaterial.read(Array(Data(contentsOf: openssl.folder.appending(path: "smime.p7s"))))
        let found = Set(items.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } })
        #expect(found.count == 3)
        #expect(try found.contains(Certificate(fixture: "alice/cert.pem")))
        #expect(try !found.contains(Certificate(fixture: "bob/cert.pem")))
    }

    @Test func `a revocation list has its issuer and its times`() throws {
        guard case .certificateList(let list) = try KeyMaterial.read(Fixtures.cert("revoked/crl.der")).first else {
            Issue.record("no list")
            return
        }
        #expect(try list.issuer == Certificate(fixture: "ca/intermediate.pem").subject)
        #expect(list.thisUpdate < .judged)
        #expect(try #require(list.nextUpdate) > .judged)
    }

    @Test(arguments: [
        "", "hello", "-----BEGIN CERTIFICATE-----\nMIIB",
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----", "0\u{80}0\u{80}", "MIIA",
    ])
    func `anything else is malformed`(text: String) {
        #expect(throws: CMSError.self) { try KeyMaterial.read(Array(text.utf8)) }
    }
}

extension KeyMaterial {
    fileprivate var kind: String {
        switch self {
        case .certificate: "certificate"
        case .certificateList: "list"
        case .pkcs12: "pkcs12"
        case .privateKey: "key"
        @unknown default: "unknown"
        }
    }
}
