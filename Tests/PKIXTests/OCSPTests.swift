import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// OCSP responses made by `openssl ocsp`.
@Suite struct OCSPTests {
    /// The certificates root, ca below it, and leaf and other below ca; a responder with the OCSP signing purpose, and one
    /// without.
    private func makeChain() throws -> CertificateFactory {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com")
        for name in ["leaf", "other", "stranger"] {
            try factory.issue(name, subject: "/CN=\(name)", by: "ca", extensions: person)
        }
        let responder = ["extendedKeyUsage=OCSPSigning"]
        try factory.issue("responder", subject: "/CN=Responder", by: "ca", extensions: responder)
        try factory.issue("exempt", subject: "/CN=Exempt", by: "ca", extensions: responder + ["noCheck=ignored"])
        try factory.issue("committer", subject: "/CN=C", by: "ca", extensions: responder + ["keyUsage=nonRepudiation"])
        try factory.issue("encrypter", subject: "/CN=E", by: "ca", extensions: responder + ["keyUsage=keyEncipherment"])
        try factory.issue("foreign", subject: "/CN=Foreign", by: "root", extensions: responder)
        return factory
    }

    /// The response of `signer` about `name`, whose status in the index is `status`: V (valid) or R (revoked).
    private func answer(
        about name: String,
        _ status: String,
        by signer: String,
        in factory: borrowing CertificateFactory,
        options: String = "-ndays 7"
    ) throws -> OCSPResponse {
        let revoked = status == "R" ? "250101000000Z" : ""
        try factory.sh(
            """
            printf '\(status)\\t491231235959Z\\t\(revoked)\\t%s\\tunknown\\t/CN=x\\n' \
            "$(openssl x509 -in \(name).pem -noout -serial | cut -d= -f2)" >ocsp.index
            openssl ocsp -issuer ca.pem -cert \(name).pem -no_nonce -reqout ocsp.req >/dev/null 2>&1
            openssl ocsp -index ocsp.index -CA ca.pem -rsigner \(signer).pem -rkey \(signer).key -reqin ocsp.req \
            -respout ocsp.resp \(options) >/dev/null 2>&1
            """
        )
        return OCSPResponse(der: try factory.bytes("ocsp.resp"))
    }

    /// The revocation status of the leaf. Its issuer is the anchor, so no other certificate is checked.
    private func revocation(
        _ responses: [OCSPResponse],
        _ factory: borrowing CertificateFactory,
        policy: RevocationPolicy = .soft,
        lists: [CertificateList] = [],
        after seconds: TimeInterval = 600
    ) throws -> ChainVerdict.Revocation? {
        let leaf = try factory.certificate("leaf")
        var store = TrustStore(anchors: [try factory.certificate("ca")]).judging(
            by: ValidationOptions(revocation: policy)
        )
        store.certificateLists = lists
        let date = leaf.notBefore.addingTimeInterval(seconds)
        return store.judge(leaf, responses: responses, purpose: .signing, at: date).revocation
    }

    @Test(arguments: ["ca", "responder"])
    func `responses by the issuer and its delegated responders are accepted`(signer: String) throws {
        let factory = try makeChain()
        let good = try answer(about: "leaf", "V", by: signer, in: factory)
        #expect(try revocation([good], factory)?.status == .good)
        #expect(try revocation([good], factory)?.problems == [])
        let bad = try answer(about: "leaf", "R", by: signer, in: factory)
        for responses in [[bad], [good, bad], [bad, good]] {
            let revocation = try revocation(responses, factory)
            #expect(revocation?.status == .revoked)
            #expect(revocation?.problems.map(\.code) == ["certificate-revoked"])
        }
        #expect(try revocation([bad], factory, policy: .off) == nil)
    }

    @Test(arguments: ["stranger", "foreign", "leaf"])
    func `responses by other responders are rejected`(signer: String) throws {
        let factory = try makeChain()
        for status in ["V", "R"] {
            let answer = try answer(about: "leaf", status, by: signer, in: factory)
            let revocation = try revocation([answer], factory)
            #expect(revocation?.status == .unknown)
            #expect(revocation?.problems.map(\.code) == ["ocsp-unusable", "revocation-unknown"])
            #expect(revocation?.problems.contains { $0.level == .error } == false)
            #expect(try self.revocation([answer], factory, policy: .hard)?.problems.map(\.level) == [.warning, .error])
        }
    }

    /// RFC 6960 §4.2.2.2.1
    @Test(arguments: [("responder", ChainVerdict.Revocation.Status.unknown), ("exempt", .good)])
    func `the response of a revoked responder is ignored, unless its certificate says not to check`(
        signer: String,
        expected: ChainVerdict.Revocation.Status
    ) throws {
        let factory = try makeChain()
        let response = try answer(about: "leaf", "V", by: signer, in: factory)
        #expect(try revocation([response], factory)?.status == .good)
        // A list for some reasons only does not make the leaf good.
        try factory.revoke(
            [signer],
            by: "ca",
            to: "partial",
            extensions: ["issuingDistributionPoint=critical,@idp"],
            sections: "[idp]\nonlysomereasons=keyCompromise"
        )
        let list = try CertificateList(der: factory.bytes("partial.crl"))
        #expect(try revocation([], factory, lists: [list])?.status == .unknown)
        #expect(try revocation([response], factory, lists: [list])?.status == expected)
    }

    @Test func `the response of a responder whose key may not sign is ignored`() throws {
        let factory = try makeChain()
        let response = try answer(about: "leaf", "V", by: "encrypter", in: factory)
        #expect(try revocation([response], factory)?.status == .unknown)
        // RFC 5280 §4.2.1.12: nonRepudiation is as good as digitalSignature.
        let other = try answer(about: "leaf", "R", by: "committer", in: factory)
        #expect(try revocation([other], factory)?.status == .revoked)
    }

    @Test func `a response about another certificate, an old one and garbage are ignored`() throws {
        let factory = try makeChain()
        let other = try answer(about: "other", "R", by: "ca", in: factory)
        let good = try answer(about: "leaf", "V", by: "ca", in: factory)
        let endless = try answer(about: "leaf", "V", by: "ca", in: factory, options: "")
        let garbage = OCSPResponse(der: [UInt8](repeating: 0x30, count: 4000))
        var forged = good.der
        forged[80] ^= 1
        #expect(try revocation([other], factory)?.status == .unknown)
        #expect(
            try revocation([garbage, OCSPResponse(der: []), OCSPResponse(der: forged)], factory)?.status == .unknown
        )
        #expect(try revocation([good], factory, after: 30 * 86_400)?.status == .unknown)
        #expect(try revocation([good], factory, after: -30 * 86_400)?.status == .unknown)
        #expect(try revocation([endless], factory)?.status == .good)
        #expect(try revocation([endless], factory, after: 8 * 86_400)?.status == .unknown)
        #expect(try revocation([garbage, other, good], factory)?.status == .good)
    }

    @Test func `responses after the sixteenth are ignored, and this is reported`() throws {
        let factory = try makeChain()
        let good = try answer(about: "leaf", "V", by: "ca", in: factory)
        let cases: [(Int, [String])] = [(16, []), (17, ["ocsp-unusable"])]
        for (count, codes) in cases {
            let revocation = try revocation([OCSPResponse](repeating: good, count: count), factory)
            #expect(revocation?.status == .good)
            #expect(revocation?.problems.map(\.code) == codes)
        }
    }

    @Test func `a permanent revocation counts whenever the responder stated it`() throws {
        let factory = try makeChain()
        // Revoked since 1 January 2025.
        let bad = try answer(about: "leaf", "R", by: "responder", in: factory)
        #expect(try revocation([bad], factory, after: 30 * 86_400)?.status == .revoked)
        #expect(try revocation([bad], factory, after: -30 * 86_400)?.status == .revoked)
        let leaf = try factory.certificate("leaf")
        let before = Date(timeIntervalSince1970: 1_733_000_000)
        #expect(try revocation([bad], factory, after: before.timeIntervalSince(leaf.notBefore))?.status == .unknown)
        #expect(bad.lifetime(about: leaf, issuedBy: try factory.certificate("ca"), at: before) == nil)
    }

    @Test func `the hashes of two responses with the same certificate of the responder differ`() throws {
        let factory = try makeChain()
        let one = try answer(about: "leaf", "V", by: "responder", in: factory)
        let two = try answer(about: "other", "V", by: "responder", in: factory)
        #expect(one.der.suffix(256) == two.der.suffix(256))
        #expect(one.hashValue != two.hashValue)
    }

    /// The response of ca about leaf with an answer for each of `statuses`, which are CertStatus elements (RFC 6960 §4.2.1).
    private func response(
        _ statuses: [[UInt8]],
        at date: Date,
        in factory: borrowing CertificateFactory
    ) throws -> OCSPResponse {
        func time(_ date: Date) -> [UInt8] {
            TestDER.element(0x18, Array((date.formatted(.iso8601).filter(\.isNumber) + "Z").utf8))
        }
        // The identifier of the leaf as the responder of openssl writes it: SHA-1 hashes of the issuer, and the serial number.
        let other = try answer(about: "leaf", "V", by: "ca", in: factory).der
        let hash: [UInt8] = [0x30, 9, 6, 5, 0x2B, 0x0E, 3, 2, 0x1A, 5, 0]
        let start = try #require(other.firstRange(of: hash)).lowerBound
        let name = other[(start - 2)...].prefix(2 + Int(other[start - 1]))
        let answers = statuses.map { status in
            TestDER.element(0x30, Array(name), status, time(date), TestDER.element(0xA0, time(date + 3600)))
        }
        let responder = TestDER.element(0xA1, try factory.certificate("ca").subject.der)
        let signed = TestDER.element(0x30, responder, time(date), TestDER.element(0x30, answers.flatMap(\.self)))
        let signature = try factory.key("ca").handle.sign(message: signed)
        let algorithm: [UInt8] = [0x30, 0x0A, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]
        let basic = TestDER.element(0x30, signed, algorithm, TestDER.element(3, [0], signature))
        let type: [UInt8] = [6, 9, 0x2B, 6, 1, 5, 5, 7, 0x30, 1, 1]
        let body = TestDER.element(0xA0, TestDER.element(0x30, type, TestDER.element(4, basic)))
        return OCSPResponse(der: TestDER.element(0x30, [0x0A, 1, 0], body))
    }

    @Test func `of two answers about one certificate, a revocation counts`() throws {
        let factory = try makeChain()
        let date = try factory.certificate("leaf").notBefore.addingTimeInterval(600)
        let good: [UInt8] = [0x80, 0]
        let revoked = TestDER.element(0xA1, TestDER.element(0x18, Array("20250101000000Z".utf8)))
        let cases: [([[UInt8]], ChainVerdict.Revocation.Status)] = [
            ([good], .good), ([good, good], .good), ([revoked], .revoked), ([good, revoked], .revoked),
            ([revoked, good], .revoked),
        ]
        for (statuses, expected) in cases {
            let response = try response(statuses, at: date, in: factory)
            #expect(try revocation([response], factory)?.status == expected, "\(statuses)")
        }
    }

    @Test func `a stored response is found by issuer, with its key, and serial number`() throws {
        let factory = try makeChain()
        let leaf = try factory.certificate("leaf")
        var other = leaf.der
        other[other.count - 1] ^= 1
        #expect(try Certificate(der: other).nameDigest == leaf.nameDigest)
        #expect(try factory.certificate("other").nameDigest != leaf.nameDigest)
        var store = TrustStore(anchors: [try factory.certificate("ca")])
        let ca = try factory.certificate("ca")
        let answer = try answer(about: "leaf", "R", by: "ca", in: factory)
        let date = leaf.notBefore.addingTimeInterval(600)
        store.responses = [try .init(leaf, issuedBy: factory.certificate("other")): answer]
        #expect(store.judge(leaf, purpose: .signing, at: date).revocation?.status == .unknown)
        store.responses[try .init(leaf, issuedBy: ca)] = answer
        #expect(store.judge(leaf, purpose: .signing, at: date).revocation?.status == .revoked)
    }
}
