import Foundation
import PKIX
import TestSupport
import Testing

/// Certificates with several issuers of one name and key, some of which a sender chose.
@Suite struct SeveralPathsTests {
    /// `ca`, certified by two roots, and a leaf. `bare` is ca's certificate by the second root, which does not allow ca to
    /// sign lists; `odd` is one by an unknown authority.
    private func makeScene() throws -> CertificateFactory {
        var factory = try CertificateFactory()
        for root in ["root", "second", "unknown"] {
            try factory.issue(root, subject: "/CN=\(root)", extensions: CertificateFactory.authority)
        }
        try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: CertificateFactory.authority)
        let bare = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"]
        for (name, root) in [("bare", "second"), ("odd", "unknown")] {
            try factory.sh("cp ca.key \(name).key")
            try factory.issue(name, subject: "/CN=CA", by: root, extensions: bare)
        }
        try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: CertificateFactory.person("a@example.com"))
        return factory
    }

    private func judge(
        _ store: TrustStore,
        _ factory: borrowing CertificateFactory,
        extra: [String]
    ) throws -> ChainVerdict {
        let leaf = try factory.certificate("leaf")
        var others: [Certificate] = []
        for name in extra { others.append(try factory.certificate(name)) }
        return store.judge(leaf, extra: others, purpose: .signing, at: leaf.notBefore.addingTimeInterval(2 * 86_400))
    }

    private func list(
        revoking names: [String],
        _ factory: borrowing CertificateFactory
    ) throws -> CertificateList {
        try factory.revoke(names, by: "ca", to: "list")
        return try CertificateList(der: factory.bytes("list.crl"))
    }

    @Test(arguments: [["ca", "bare"], ["bare", "ca"]])
    func `a certificate that its issuer revoked is revoked, whatever other path a sender offers`(
        extra: [String]
    ) throws {
        let factory = try makeScene()
        var store = TrustStore(anchors: [try factory.certificate("root"), try factory.certificate("second")])
        #expect(try judge(store, factory, extra: extra).isTrusted)
        store.certificateLists = [try list(revoking: ["leaf"], factory)]
        let verdict = try judge(store, factory, extra: extra)
        #expect(verdict.revocation?.status == .revoked)
        #expect(verdict.revocation?.problems.map(\.code).contains("certificate-revoked") == true)
    }

    @Test(arguments: [["ca", "bare"], ["bare", "ca"]])
    func `a revoked authority is only revoked on its own path`(extra: [String]) throws {
        let factory = try makeScene()
        var store = TrustStore(anchors: [try factory.certificate("root"), try factory.certificate("second")])
        try factory.revoke(["ca"], by: "root", to: "roots")
        store.certificateLists = [try CertificateList(der: factory.bytes("roots.crl"))]
        let verdict = try judge(store, factory, extra: extra)
        #expect(verdict.isTrusted && verdict.revocation?.status != .revoked)
        #expect(try verdict.certificates.last == factory.certificate("second"))
    }

    @Test(arguments: [["odd", "unknown"], ["unknown", "odd"]])
    func `no certificate that a sender made hides the issuer that revoked a pinned or trusted certificate`(
        extra: [String]
    ) throws {
        var factory = try makeScene()
        try factory.sh("cp ca.key old.key")
        let authority = CertificateFactory.authority
        try factory.issue("old", subject: "/CN=CA", by: "root", extensions: authority, options: "-days 1")
        let leaf = try factory.certificate("leaf")
        for isPinned in [true, false] {
            var store =
                isPinned ? TrustStore(pinned: [leaf.publicKeyDigest]) : TrustStore(anchors: [leaf])
            store.intermediates = [try factory.certificate("old")]
            #expect(try judge(store, factory, extra: extra).revocation?.status == .unknown)
            store.certificateLists = [try list(revoking: [], factory)]
            #expect(try judge(store, factory, extra: extra).revocation?.status == .good)
            store.certificateLists = [try list(revoking: ["leaf"], factory)]
            let verdict = try judge(store, factory, extra: extra)
            #expect(verdict.isTrusted && verdict.revocation?.status == .revoked)
        }
    }

    @Test func `many false issuers with slow keys do not hide the issuer that revoked a pinned certificate`() throws {
        var factory = try makeScene()
        let names = (1...60).map { "false\($0)" }
        let curve = "EC -pkeyopt ec_paramgen_curve:sect571k1"
        for name in names {
            try factory.issue(name, subject: "/CN=CA", key: curve, extensions: CertificateFactory.authority)
        }
        let leaf = try factory.certificate("leaf")
        var store = TrustStore(pinned: [leaf.publicKeyDigest])
        store.certificateLists = [try list(revoking: ["leaf"], factory)]
        for extra in [names + ["ca"], ["ca"] + names] {
            let revocation = try judge(store, factory, extra: extra).revocation
            let isOpen =
                revocation?.problems.contains { $0.level == .error && $0.code == "revocation-unknown" } ?? false
            #expect(revocation?.status == .revoked || isOpen, "\(String(describing: revocation))")
        }
    }

    @Test func `a list that names the key by the identifier in a renewed certificate counts`() throws {
        var factory = try makeScene()
        try factory.sh("cp ca.key renewed.key")
        let other = CertificateFactory.authority + ["subjectKeyIdentifier=00:11:22:33"]
        try factory.issue("renewed", subject: "/CN=CA", by: "root", extensions: other)
        let known = CertificateFactory.person("a@example.com") + ["authorityKeyIdentifier=keyid:always"]
        try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: known)
        try factory.revoke(["leaf"], by: "renewed", to: "list")
        var store = TrustStore(anchors: [try factory.certificate("root")])
        store.certificateLists = [try CertificateList(der: factory.bytes("list.crl"))]
        #expect(try judge(store, factory, extra: ["ca", "renewed"]).revocation?.status == .revoked)
    }

    /// Anyone can certify the issuer's name and key below a root of their own, and another key with that name.
    @Test(arguments: [[], ["leaf"]]) func `no list of a sender's root says anything of a pinned or trusted certificate`(
        revoked: [String]
    ) throws {
        var factory = try makeScene()
        let lister = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,cRLSign"]
        try factory.issue("lister", subject: "/CN=CA", by: "unknown", extensions: lister)
        try factory.revoke(revoked, by: "lister", to: "list")
        let leaf = try factory.certificate("leaf")
        for base in [TrustStore(pinned: [leaf.publicKeyDigest]), TrustStore(anchors: [leaf])] {
            var store = base
            store.certificateLists = [try CertificateList(der: factory.bytes("list.crl"))]
            let verdict = try judge(store, factory, extra: ["odd", "unknown", "lister"])
            #expect(verdict.revocation?.status == .unknown)
        }
    }

    /// RFC 5280 §6.3.3 (f): a list may be signed with another key of the authority than its certificates.
    @Test(arguments: ["onlyuser=TRUE", "fullname=URI:http://lists.test/1", ""])
    func `a list by a separate key of the authority counts, whatever its scope`(scope: String) throws {
        var factory = try makeScene()
        let lister = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,cRLSign"]
        try factory.issue("lister", subject: "/CN=CA", by: "root", extensions: lister)
        let point = ["crlDistributionPoints=URI:http://lists.test/1"]
        let extensions = CertificateFactory.person("a@example.com") + point
        try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: extensions)
        for (revoked, status) in [([], ChainVerdict.Revocation.Status.good), (["leaf"], .revoked)] {
            let scopes = scope.isEmpty ? [] : ["issuingDistributionPoint=critical,@idp"]
            let sections = scope.isEmpty ? "" : "[idp]\n\(scope)"
            try factory.revoke(revoked, by: "lister", to: "list", extensions: scopes, sections: sections)
            var store = TrustStore(anchors: [try factory.certificate("root")])
            try factory.revoke([], by: "root", to: "roots")
            for name in ["list.crl", "roots.crl"] {
                store.certificateLists.append(try CertificateList(der: factory.bytes(name)))
            }
            #expect(try judge(store, factory, extra: ["ca", "lister"]).revocation?.status == status)
        }
    }

    @Test(arguments: [["ca", "bare"], ["bare", "ca"]])
    func `a path with a weak signature does not hide one without`(extra: [String]) throws {
        var factory = try makeScene()
        try factory.issue(
            "bare",
            subject: "/CN=CA",
            by: "second",
            extensions: CertificateFactory.authority,
            options: "-days 3650 -sha1"
        )
        let store = TrustStore(anchors: [try factory.certificate("root"), try factory.certificate("second")])
        #expect(try judge(store, factory, extra: ["bare"]).isWeak)
        let verdict = try judge(store, factory, extra: extra)
        #expect(verdict.isTrusted && !verdict.isWeak)
    }

    /// RFC 5280 §6.1.1: the policies that a relying party asks for.
    @Test(arguments: [
        ("", ["1.2.3"], false), ("certificatePolicies=1.2.3", ["1.2.3"], true), ("certificatePolicies=1.2.3", [], true),
        ("certificatePolicies=1.2.4", ["1.2.3"], false), ("certificatePolicies=2.5.29.32.0", ["1.2.3"], true),
        ("", [], false),
    ])
    func `a certificate that is trusted without a chain needs the policy itself`(
        line: String,
        acceptable: [String],
        isMet: Bool
    ) throws {
        var factory = try makeScene()
        let extensions = CertificateFactory.person("a@example.com") + [line]
        try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: extensions)
        let leaf = try factory.certificate("leaf")
        let policies = CertificatePolicies(acceptable: acceptable, isExplicit: true)
        for store in [TrustStore(pinned: [leaf.publicKeyDigest]), TrustStore(anchors: [leaf])] {
            let verdict = try judge(store.judging(by: ValidationOptions(policies: policies)), factory, extra: ["ca"])
            #expect(verdict.problems.map(\.code) == (isMet ? [] : ["chain-policy"]))
        }
    }

    @Test func `a certificate with thousands of policies is not judged`() throws {
        var factory = try makeScene()
        let policies = (1...1_200).map { "1.2.\($0)" }.joined(separator: ",")
        let extensions = CertificateFactory.person("a@example.com") + ["certificatePolicies=\(policies)"]
        try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: extensions)
        let store = TrustStore(anchors: [try factory.certificate("root")])
        #expect(try judge(store, factory, extra: ["ca"]).problems.map(\.code).contains("chain-not-checked"))
    }

    @Test func `the slowest curves cost as much as the time that they take`() throws {
        var factory = try CertificateFactory()
        for (curve, cost) in [("P-256", 3), ("P-384", 20), ("brainpoolP512r1", 30), ("sect571k1", 110)] {
            let key = "EC -pkeyopt ec_paramgen_curve:\(curve)"
            try factory.issue(curve, subject: "/CN=\(curve)", key: key, extensions: CertificateFactory.authority)
            #expect(try factory.certificate(curve).verificationCost == cost)
        }
    }
}
