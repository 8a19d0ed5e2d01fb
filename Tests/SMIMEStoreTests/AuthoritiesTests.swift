import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// Which of many authorities with one name are used.
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

    /// The store with alice below one authority, and mallory below the last of nine others with its name, which came first.
    private func namesakes(_ factory: inout CertificateFactory, in home: TemporaryHome) async throws -> Store {
        let authority = CertificateFactory.authority
        try factory.issue("root", subject: "/CN=Root", extensions: authority)
        try factory.issue("other", subject: "/CN=Other", by: "root", extensions: authority)
        let fakes = (1...9).map { "fake\($0)" }
        for name in fakes { try factory.issue(name, subject: "/CN=Sub", by: "other", extensions: authority) }
        try factory.issue("sub", subject: "/CN=Sub", by: "root", extensions: authority)
        for (name, issuer) in [("mallory", "fake9"), ("alice", "sub")] {
            let person = CertificateFactory.person("\(name)@example.com")
            try factory.issue(name, subject: "/CN=\(name)", by: issuer, extensions: person)
        }
        let store = try await home.open()
        var batch = ImportBatch()
        batch.anchors = [try factory.certificate("root")]
        for name in ["other"] + fakes + ["sub"] { batch.intermediates.append(try factory.certificate(name)) }
        for name in ["mallory", "alice"] {
            let address = try AddressScope("\(name)@example.com")
            batch.recipients.append(.init(certificate: try factory.certificate(name), addresses: [address]))
        }
        _ = try await store.add(batch, at: .now)
        return store
    }

    @Test func `authorities of one name are found for each of several recipients`() async throws {
        var factory = try CertificateFactory()
        let home = try TemporaryHome()
        let store = try await namesakes(&factory, in: home)
        let addresses = try ["mallory", "alice"].map { try AddressScope("\($0)@example.com") }
        let lookup = RecipientLookup(store: store, systemAnchors: false)
        for scopes in [addresses, addresses.reversed()] {
            let choices = try await lookup.choices(for: scopes, at: .now).choices
            #expect(choices.map { $0.candidates.map(\.reason) } == [[.selected], [.selected]])
        }
    }

    @Test func `a certificate is not used if there are too many revocation lists to read`() async throws {
        var factory = try CertificateFactory()
        let home = try TemporaryHome()
        let store = try await namesakes(&factory, in: home)
        var batch = ImportBatch()
        for number in 0..<65 {
            let point = "[idp]\nfullname=dirName:point\n[point]\nCN=\(number)"
            let extensions = ["issuingDistributionPoint=critical,@idp"]
            try factory.revoke([], by: "sub", to: "list\(number)", extensions: extensions, sections: point)
            batch.crls.append(try CertificateList(der: factory.bytes("list\(number).crl")))
        }
        _ = try await store.add(batch, at: .now)
        let lookup = RecipientLookup(store: store, systemAnchors: false)
        let choice = try await lookup.choices(for: [AddressScope("alice@example.com")], at: .now).choices[0]
        #expect(choice.candidates.map(\.reason) == [.checkTooLong])
        #expect(choice.isUndecided && !choice.isUnknown)
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
