import Foundation
import PKIX
import TestSupport
import Testing

@Suite struct CertificateTests {
    @Test func `an ordinary certificate has its addresses, validity and usages`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        #expect(alice.addresses == ["alice@example.com"])
        #expect(alice.publicKeyAlgorithm == .rsa(2048))
        #expect(alice.signatureAlgorithm == "rsa-sha256")
        #expect(alice.canSign && alice.canEncrypt)
        #expect(!alice.isCertificateAuthority && !alice.isSelfIssued && !alice.hasMalformedAddress)
        #expect(alice.notBefore == Date(timeIntervalSince1970: 1_767_225_600))
        #expect(alice.notAfter == Date(timeIntervalSince1970: 4_922_899_199))
        #expect(alice.isValid(at: .judged) && !alice.isValid(at: .in2020))
        let issuer = try Certificate(fixture: "ca/intermediate.pem")
        #expect(alice.issuer == issuer.subject)
        #expect(alice.authorityKeyIdentifier == issuer.subjectKeyIdentifier)
    }

    @Test(arguments: [
        ("carol", PublicKeyAlgorithm.ellipticCurve("P-256")), ("p384", .ellipticCurve("P-384")),
        ("p521", .ellipticCurve("P-521")), ("dana", .ed25519), ("pss", .rsaPSS(2048)), ("bob", .rsa(4096)),
        ("weak", .rsa(1024)),
    ])
    func `the public key algorithm is recognized`(name: String, algorithm: PublicKeyAlgorithm) throws {
        #expect(try Certificate(fixture: "\(name)/cert.pem").publicKeyAlgorithm == algorithm)
    }

    @Test(arguments: [
        ("alice", true, true), ("carol", true, true), ("dana", true, false), ("pss", true, false),
        ("sign-only", true, false), ("encrypt-only", false, true), ("no-usages", true, true),
        ("wrong-eku", false, false), ("wrong-ku", false, false), ("ca-as-leaf", false, false),
    ])
    func `key usages decide whether a certificate signs or encrypts`(name: String, signs: Bool, encrypts: Bool) throws {
        let certificate = try Certificate(fixture: "\(name)/cert.pem")
        #expect(certificate.canSign == signs)
        #expect(certificate.canEncrypt == encrypts)
    }

    @Test(arguments: [
        ("several", ["one@example.com", "Two@Example.ORG", "three@example.net"]),
        ("dn-only", ["dn-only@example.com"]), ("san-and-dn", ["sam@example.com"]), ("cn-only", []), ("no-email", []),
        ("idn", ["пётр@xn--e1afmkfd.test", "petr@xn--e1afmkfd.test"]), ("wildcard", ["*@example.com"]),
    ])
    func `addresses come from the alternative name, else from the DN`(name: String, addresses: [String]) throws {
        #expect(try Set(Certificate(fixture: "\(name)/cert.pem").addresses) == Set(addresses))
    }

    @Test func `an address that contains NUL is ignored`() throws {
        let certificate = try Certificate(fixture: "nul-address/cert.pem")
        #expect(certificate.addresses.isEmpty)
        #expect(certificate.hasMalformedAddress)
    }

    @Test func `distinguished names are written as in RFC 4514`() throws {
        let root = try Certificate(fixture: "ca/root.pem")
        #expect(root.isSelfIssued && root.isCertificateAuthority)
        let name = "\(root.subject)"
        #expect(name.hasPrefix("CN="))
        #expect(root.subject.commonName.map { name.contains($0) } == true)
    }

    @Test(arguments: [0, 1, 17, 100, 500, 700])
    func `a truncated certificate is malformed`(count: Int) throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        #expect(throws: CMSError.self) { try Certificate(der: Array(alice.der.prefix(count))) }
    }

    @Test func `any one byte changed gives an error or another certificate, never a crash`() throws {
        let der = try Certificate(fixture: "idn/cert.pem").der
        for index in der.indices {
            for value in [0x00, 0x7f, 0x80, 0xff] as [UInt8] where der[index] != value {
                var changed = der
                changed[index] = value
                if let certificate = try? Certificate(der: changed) { #expect(certificate.der == changed) }
            }
        }
    }

    @Test func `bytes after a certificate are not part of it`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        #expect(throws: CMSError.self) { try Certificate(der: alice.der + [0]) }
    }

    @Test func `a hundred thousand nested elements are refused`() {
        #expect(throws: CMSError.limitExceeded("ASN.1 depth")) {
            try Certificate(
                der: [UInt8](repeating: 0x30, count: 200_000).enumerated().map { $0.offset % 2 == 0 ? 0x30 : 0x80 }
            )
        }
    }
}

@Suite struct FingerprintTests {
    let digits = String(repeating: "0123456789abcdef", count: 4)

    @Test func `a fingerprint is read with or without prefix and colons, in either case`() throws {
        let plain = try #require(Fingerprint(digits))
        let pairs = stride(from: 0, to: 64, by: 2).map { String(Array(digits)[$0..<$0 + 2]) }
        #expect(Fingerprint("sha256:\(digits)") == plain)
        #expect(Fingerprint("SHA256:" + pairs.joined(separator: ":").uppercased()) == plain)
        #expect("\(plain)" == "sha256:\(digits)")
    }

    @Test(arguments: ["", "sha256:", "abc", String(repeating: "g", count: 64), String(repeating: "a", count: 66)])
    func `anything else is none`(text: String) { #expect(Fingerprint(text) == nil) }

    @Test func `a fingerprint is coded as JSON and back`() throws {
        let fingerprint = try Certificate(fixture: "alice/cert.pem").fingerprint
        let json = try JSONEncoder().encode([fingerprint])
        #expect(try JSONDecoder().decode([Fingerprint].self, from: json) == [fingerprint])
    }
}
