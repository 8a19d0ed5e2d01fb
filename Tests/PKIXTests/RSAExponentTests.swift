import PKIX
import TestSupport
import Testing

/// RFC 8017 §3.1: the exponent is odd, and at least 3.
@Suite struct RSAExponentTests {
    @Test(arguments: [(UInt8(1), false), (2, false), (4, false), (3, true), (17, true)])
    func `a certificate whose RSA exponent is 1 or even is malformed`(exponent: UInt8, isAccepted: Bool) throws {
        var factory = try CertificateFactory()
        let key = "RSA -pkeyopt rsa_keygen_bits:2048"
        try factory.issue("root", subject: "/CN=Root", key: key, extensions: CertificateFactory.authority)
        // 65537 becomes a number of as many octets, with zeros before it.
        let old: [UInt8] = [0x02, 0x03, 0x01, 0x00, 0x01]
        var der = try factory.certificate("root").der
        let place = try #require(der.indices.first { der[$0...].starts(with: old) })
        der.replaceSubrange(place..<place + old.count, with: [0x02, 0x03, 0x00, 0x00, exponent])
        #expect(((try? Certificate(der: der)) != nil) == isAccepted)
    }
}
