import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// Which of many authorities with one name count.
@Suite struct AuthoritiesTests {
    /// Copies of the authority's certificate with another key, which anyone can make. Their signatures are wrong.
    private static func copies(of authority: Certificate, count: Int) throws -> [Certificate] {
        let key = authority.publicKeyInfo
        let place = try #require(authority.der.indices.first { authority.der[$0...].starts(with: key) }) + key.count / 2
        return try (0..<count).map { number in
            var der = authority.der
            der[place] ^= UInt8(number % 255 + 1)
            der[place + 1] ^= UInt8(number / 255 + 1)
            return try Certificate(der: der)
        }
    }

    @Test(arguments: [true, false])
    func `false certificates of an authority do not hide the true one`(isFirst: Bool) async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let (root, authority) = (
            try Certificate(fixture: "ca/root.pem"), try Certificate(fixture: "ca/intermediate.pem")
        )
        let bob = try Certificate(fixture: "bob/cert.pem")
        var batch = ImportBatch()
        batch.anchors = [root]
        batch.intermediates = isFirst ? [authority] : []
        _ = try await store.add(batch, at: .judged)
        batch.intermediates = try Self.copies(of: authority, count: 300)
        _ = try await store.add(batch, at: .judged)
        batch.intermediates = [authority]
        _ = try await store.add(batch, at: .judged)
        let trust = try await store.anchors.trust(judging: [bob], systemAnchors: false)
        #expect(trust.judge(bob, purpose: .encryption, at: .judged).isTrusted)
        let chain = try await store.anchors.chain(above: bob, includingRoots: true)
        #expect(chain.contains(authority) && chain.contains(root))
    }

    @Test func `a certificate that only names an authority has no issuer`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = ImportBatch()
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        _ = try await store.add(batch, at: .judged)
        var der = try Certificate(fixture: "bob/cert.pem").der
        der[der.count - 1] ^= 1
        let forged = try Certificate(der: der)
        #expect(try await store.anchors.chain(above: forged, includingRoots: true).isEmpty)
    }
}
