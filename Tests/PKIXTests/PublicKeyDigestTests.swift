import Foundation
import PKIX
import TestSupport
import Testing

@Suite struct PublicKeyDigestTests {
    @Test func `certificates with the same key have the same key digest`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        #expect(try alice.publicKeyDigest == Certificate(fixture: "alice-reissued/cert.pem").publicKeyDigest)
        #expect(try alice.publicKeyDigest != Certificate(fixture: "alice-renewed/cert.pem").publicKeyDigest)
    }

    @Test func `the key digest of RSA ignores missing parameters and the RSASSA-PSS label`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
        var der = alice.der
        let place = try #require(der.indices.first { der[$0...].starts(with: rsa) })
        der[place + 8] = 0x0A
        let pss = try Certificate(der: der)
        #expect(pss.publicKeyAlgorithm == .rsaPSS(2048))
        #expect(pss.publicKeyInfo != alice.publicKeyInfo)
        #expect(pss.publicKeyDigest == alice.publicKeyDigest)
    }

    @Test(arguments: ["compressed", "hybrid"])
    func `the key digest is the same for every encoding of a point`(form: String) throws {
        var factory = try CertificateFactory()
        for curve in ["P-256", "P-384"] {
            let key = "EC -pkeyopt ec_paramgen_curve:\(curve)"
            try factory.issue(curve, subject: "/CN=a", key: key, extensions: ["basicConstraints=CA:FALSE"])
            try factory.sh("openssl ec -in \(curve).key -conv_form \(form) -out \(curve)-\(form).key 2>/dev/null")
            try factory.issue("\(curve)-\(form)", subject: "/CN=b", extensions: ["basicConstraints=CA:FALSE"])
            let (first, second) = (try factory.certificate(curve), try factory.certificate("\(curve)-\(form)"))
            #expect(first.publicKeyInfo != second.publicKeyInfo)
            #expect(first.publicKeyDigest == second.publicKeyDigest)
        }
    }
}
