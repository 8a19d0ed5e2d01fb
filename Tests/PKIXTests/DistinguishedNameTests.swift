import Foundation
import PKIX
import TestSupport
import Testing

@Suite struct DistinguishedNameTests {
    /// The subject of a new certificate, in the syntax of `openssl req -subj`.
    private func subject(_ text: String, _ options: [String] = ["-utf8"]) throws -> DistinguishedName {
        let openssl = try OpenSSLCommand()
        let words = ["req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "k", "-subj", text, "-out", "c"]
        let result = try CommandRunner("openssl", folder: openssl.folder).run(words + options)
        try #require(result.status == 0, "\(result.errorText)")
        let bytes = try Array(Data(contentsOf: openssl.folder.appending(path: "c")))
        guard case .certificate(let certificate) = try KeyMaterial.read(bytes).first else {
            throw CMSError.malformed(.certificate, "none")
        }
        return certificate.subject
    }

    @Test(arguments: [
        ("/C=DE/O=Haus/CN=Alice", "CN=Alice,O=Haus,C=DE"),
        ("/CN=Müller\\, Jörg", "CN=Müller\\, Jörg"),
        ("/CN=#1 <a;b>", "CN=\\#1 \\<a\\;b\\>"),
        ("/CN= x ", "CN=\\ x\\ "),
        ("/O=A+OU=B/CN=C", "CN=C,O=A+OU=B"),
        ("/emailAddress=a@b.example/CN=c", "CN=c,emailAddress=a@b.example"),
    ])
    func `distinguished names are written most specific first, with special characters escaped`(
        text: String,
        written: String
    ) throws {
        let text = text.replacing("\\,", with: ",")
        #expect(try subject(text, ["-utf8", "-multivalue-rdn"]).description == written)
    }

    @Test(arguments: [
        ("/O=Example/CN=Alice Example", "/CN=Alice Example/O=Example"),
        (
            "/C=DE/ST=Hessen/L=Ort/O=Haus, Co/OU=Ab\\/teilung/CN=Al\\\\ice \"X\"",
            "/CN=Al\\x5cice \"X\"/OU=Ab\\x2fteilung/O=Haus, Co/L=Ort/ST=Hessen/C=DE"
        ),
        (
            "/DC=org/DC=example/CN=Bob/emailAddress=b@e.org/serialNumber=12",
            "/CN=Bob/EMail=b@e.org/SerialNumber=12/DC=example/DC=org"
        ),
        (
            "/CN=Jörg/SN=Müller/GN=J/title=Dr/UID=j/pseudonym=p/street=S 1/2.5.4.97=VATDE",
            "/CN=Jörg/STREET=S 1/2.5.4.97=VATDE/Pseudo=p/UID=j/T=Dr/GN=J/SN=Müller"
        ),
        ("/CN=a\tb;c<d>#/description=x/2.5.4.17=123", "/CN=a\\x09b;c<d>#/PostalCode=123/D=x"),
        ("/CN=two\n[GNUPG:] GOODSIG", "/CN=two\\x0a[GNUPG:] GOODSIG"),
    ])
    func `names are written as gpgsm 2.2 lists them`(text: String, written: String) throws {
        #expect(try subject(text).gnuPGDescription == written)
    }

    @Test func `control and bidirectional characters in names are escaped`() throws {
        let name = try subject("/CN=good\u{202e}live\u{1b}[31m\nX")
        #expect(name.description == "CN=good\\E2\\80\\AElive\\1B[31m\\0AX")
    }

    @Test func `invisible characters are shown as their bytes`() throws {
        let name = try subject("/CN=A\u{3164}l\u{fe0f}i\u{34f}ce")
        #expect(name.description == "CN=A\\E3\\85\\A4l\\EF\\B8\\8Fi\\CD\\8Fce")
    }

    @Test func `names are compared without regard to case, blanks and string types`() throws {
        let name = try subject("/O=The  House/CN=Ann Ex")
        #expect(try name.matches(subject("/O=the house /CN=ANN EX")))
        #expect(try name.matches(subject("/O=The House/CN=Ann Ex", ["-nameopt", "utf8"])))
        #expect(try !name.matches(subject("/O=The House/CN=Ann Ey")))
        #expect(try !name.matches(subject("/CN=Ann Ex/O=The House")))
        #expect(try name != subject("/O=the house /CN=ANN EX"))
    }

    /// RFC 5280 §7.1
    @Test func `a reference to a certificate matches whatever the encoding of the issuer's name`() throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Some Authority", extensions: CertificateFactory.authority)
        try factory.issue("leaf", subject: "/CN=L", by: "root", extensions: CertificateFactory.person("a@example.com"))
        let leaf = try factory.certificate("leaf")
        func reference(_ name: String, _ tag: UInt8, serialNumber: [UInt8]) throws -> EntityIdentifier {
            var issuer = leaf.issuer.der
            let old: [UInt8] = [0x0C, 14] + "Some Authority".utf8
            let place = try #require(issuer.indices.first { issuer[$0...].starts(with: old) })
            issuer.replaceSubrange(place..<place + 16, with: [tag, UInt8(name.utf8.count)] + name.utf8)
            return .issuerAndSerial(issuer: issuer, serialNumber: serialNumber)
        }
        let number = leaf.serialNumber
        for name in ["Some Authority", "SOME authority", "Some  Authorit"] {
            let isSame = !name.hasSuffix("rit")
            #expect(try reference(name, 0x13, serialNumber: number).matches(leaf) == isSame, "\(name)")
            #expect(try reference(name, 0x0C, serialNumber: number).matches(leaf) == isSame, "\(name)")
        }
        #expect(try !reference("Some Authority", 0x13, serialNumber: number + [1]).matches(leaf))
    }
}
