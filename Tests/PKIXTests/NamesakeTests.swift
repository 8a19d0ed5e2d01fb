import ByteStreams
import Foundation
import PKIX
import TestSupport
import Testing

/// An authority that may issue certificates for authorities can give them the name of another authority.
@Suite struct NamesakeTests {
    /// `alice` below `sub` below `root`. `evil`, also below `root`, may only issue certificates for evil.example; `fake`
    /// below it has the name and the key identifier of `sub`.
    private func makeScene() throws -> CertificateFactory {
        var factory = try CertificateFactory()
        let authority = CertificateFactory.authority
        try factory.issue("root", subject: "/CN=Root", extensions: authority)
        try factory.issue("sub", subject: "/CN=Sub", by: "root", extensions: authority)
        let constraint = ["nameConstraints=critical,permitted;email:evil.example"]
        try factory.issue("evil", subject: "/CN=Evil", by: "root", extensions: authority + constraint)
        try factory.issue("fake", subject: "/CN=Sub", by: "evil", extensions: authority)
        let person = CertificateFactory.person("alice@corp.example") + ["authorityKeyIdentifier=keyid:always"]
        try factory.issue("alice", subject: "/CN=Alice", by: "sub", extensions: person)
        return factory
    }

    private func judge(
        _ store: TrustStore,
        _ factory: borrowing CertificateFactory,
        extra: [String] = []
    ) throws -> ChainVerdict {
        let alice = try factory.certificate("alice")
        var others: [Certificate] = []
        for name in extra { others.append(try factory.certificate(name)) }
        return store.judge(alice, extra: others, purpose: .signing, at: alice.notBefore.addingTimeInterval(86_400))
    }

    private func list(
        revoking names: [String],
        by issuer: String,
        _ factory: borrowing CertificateFactory
    ) throws -> CertificateList {
        try factory.revoke(names, by: issuer, to: "\(issuer)-list")
        return try CertificateList(der: factory.bytes("\(issuer)-list.crl"))
    }

    @Test func `authorities of one name with slow keys neither hide the right chain nor its revocation`() throws {
        var factory = try makeScene()
        let key = try #require(factory.certificate("sub").subjectKeyIdentifier)
        let text = key.map { String(format: "%02x", $0) }.joined(separator: ":")
        let curve = "EC -pkeyopt ec_paramgen_curve:sect571k1"
        let names = (1...60).map { "fake\($0)" }
        for name in names {
            let extensions = CertificateFactory.authority + ["subjectKeyIdentifier=\(text)"]
            try factory.issue(name, subject: "/CN=Sub", key: curve, extensions: extensions)
        }
        for extra in [names + ["sub"], ["sub"] + names] {
            var store = TrustStore(anchors: [try factory.certificate("root")])
            #expect(try judge(store, factory, extra: extra).isTrusted)
            store.certificateLists = [try list(revoking: [], by: "sub", factory)]
            #expect(try judge(store, factory, extra: extra).isTrusted)
            store.certificateLists = [try list(revoking: ["alice"], by: "sub", factory)]
            #expect(try judge(store, factory, extra: extra).revocation?.status == .revoked)
        }
    }

    @Test func `a list that another authority is known to have signed is not tried with an authority's key`() throws {
        var factory = try makeScene()
        let key = try #require(factory.certificate("sub").subjectKeyIdentifier).hexadecimal
        let extensions = CertificateFactory.authority + ["subjectKeyIdentifier=\(key)"]
        try factory.issue("fake", subject: "/CN=Sub", by: "evil", extensions: extensions)
        let fake = try list(revoking: ["alice"], by: "fake", factory)
        let others = [try list(revoking: [], by: "root", factory), try list(revoking: [], by: "sub", factory)]
        var store = TrustStore(anchors: [try factory.certificate("root")])
        store.certificateLists = [fake] + others
        let tried = try judge(store, factory, extra: ["sub"]).revocation
        #expect(tried?.status == .good && tried?.problems.map(\.kind) == [.crlSignature])
        store.listSigners = [fake.fingerprint: try factory.certificate("fake").publicKeyDigest]
        let known = try judge(store, factory, extra: ["sub"]).revocation
        #expect(known?.status == .good && known?.problems.isEmpty == true)
        // A false note in the store about a list does not hide the same list from elsewhere.
        let revoking = try list(revoking: ["alice"], by: "sub", factory)
        store.certificateLists = [revoking, others[0]]
        store.listSigners = [revoking.fingerprint: try factory.certificate("fake").publicKeyDigest]
        #expect(try judge(store, factory, extra: ["sub"]).revocation?.status == .unknown)
        var filed = store
        filed.add([revoking])
        #expect(try judge(filed, factory, extra: ["sub"]).revocation?.status == .revoked)
        filed = store
        filed.options.certificateLists = [revoking]
        #expect(try judge(filed, factory, extra: ["sub"]).revocation?.status == .revoked)
        store.listSigners = [fake.fingerprint: try factory.certificate("fake").publicKeyDigest]
        store.certificateLists = [fake, others[0]]
        #expect(try judge(store, factory, extra: ["sub"]).revocation?.status == .unknown)
    }

    @Test func `a key with a very long exponent is not used for verifying`() throws {
        var factory = try makeScene()
        let exponent = "1" + String(repeating: "0", count: 220) + "1"
        let key = "RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:\(exponent)"
        try factory.issue("slow", subject: "/CN=Slow", key: key, extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("alice@corp.example")
        try factory.issue("alice", subject: "/CN=Alice", by: "slow", extensions: person)
        #expect(try factory.certificate("slow").isExcessive)
        let verdict = try judge(TrustStore(anchors: [factory.certificate("slow")]), factory)
        #expect(!verdict.isTrusted && verdict.problems.map(\.code).contains("chain-not-checked"))
    }

    @Test func `many certificates for the key of an authority do not hide the right one`() throws {
        var factory = try makeScene()
        let names = (1...12).map { "cross\($0)" }
        for name in names {
            try factory.sh("cp sub.key \(name).key")
            try factory.issue(name, subject: "/CN=Sub", by: "evil", extensions: CertificateFactory.authority)
        }
        let root = try factory.certificate("root")
        for extra in [names + ["evil", "sub"], ["evil", "sub"] + names] {
            var store = TrustStore(anchors: [root])
            #expect(try judge(store, factory, extra: extra).isTrusted)
            store.certificateLists = [try list(revoking: [], by: "sub", factory)]
            #expect(try judge(store, factory, extra: extra).isTrusted)
        }
    }

    @Test(arguments: [[], ["alice"]]) func `a list of a namesake says nothing of the authority's certificates`(
        revoked: [String]
    ) throws {
        var factory = try makeScene()
        var store = TrustStore(anchors: [try factory.certificate("root")])
        store.certificateLists = [
            try list(revoking: revoked, by: "fake", factory), try list(revoking: [], by: "root", factory),
        ]
        // The cross certificate makes the namesake's issuer one of a path for alice, which has an error.
        try factory.sh("cp sub.key cross.key")
        try factory.issue("cross", subject: "/CN=Sub", by: "evil", extensions: CertificateFactory.authority)
        for extra in [["sub", "fake", "evil"], ["sub", "cross", "fake", "evil"], ["cross", "fake", "evil", "sub"]] {
            let verdict = try judge(store, factory, extra: extra)
            #expect(verdict.isTrusted && verdict.revocation?.status == .unknown)
            #expect(verdict.revocation?.problems.map(\.code).contains("crl-signature") == false)
        }
    }

    @Test(arguments: ["keyUsage=critical,keyCertSign", "nsCertType=emailCA", "basicConstraints=CA:FALSE"])
    func `an anchor that is no authority is only trusted itself`(extension: String) throws {
        var factory = try makeScene()
        try factory.issue("person", subject: "/CN=Person", extensions: [`extension`])
        let extensions = CertificateFactory.person("alice@corp.example")
        try factory.issue("alice", subject: "/CN=Alice", by: "person", extensions: extensions)
        let verdict = try judge(TrustStore(anchors: [factory.certificate("person")]), factory)
        #expect(!verdict.isTrusted && verdict.problems.map(\.code).contains("chain-not-ca"))
    }
}
