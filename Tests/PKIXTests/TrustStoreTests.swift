import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

@Suite struct TrustStoreTests {
    let store: TrustStore

    init() throws {
        store = TrustStore(anchors: [try Certificate(fixture: "ca/root.pem")])
    }

    /// The verdict on `FOLDER/cert.pem`, with the certificates in `chain.pem` available.
    private func judge(
        _ name: String,
        _ purpose: Certificate.KeyPurpose = .signing,
        at date: Date = .judged,
        in store: TrustStore? = nil
    ) throws -> ChainVerdict {
        let chain = try Certificate.all(fixture: "\(name)/chain.pem")
        return (store ?? self.store).judge(
            try Certificate(fixture: "\(name)/cert.pem"),
            extra: chain,
            purpose: purpose,
            at: date
        )
    }

    @Test(arguments: [
        "alice", "carol", "p384", "p521", "dana", "pss", "no-usages", "sign-only", "dn-only", "long-chain",
    ])
    func `a chain to an anchor is trusted`(name: String) throws {
        let verdict = try judge(name)
        let root = try Certificate(fixture: "ca/root.pem")
        #expect(verdict.isTrusted)
        #expect(verdict.trust == .anchor(root.fingerprint))
        #expect(verdict.certificates.last == root)
        #expect(verdict.problems.isEmpty && verdict.timeProblems.isEmpty)
        #expect(verdict.revocation?.status == .unknown)
        #expect(verdict.revocation?.problems.allSatisfy { $0.level == .warning } == true)
    }

    /// RFC 8017 §9.1.1: the mask only spreads the digest, so two certificates with the same digest could share a signature.
    @Test(arguments: [
        ("sha1", "sha1", true), ("sha1", "sha256", true), ("sha256", "sha1", false), ("sha512", "sha512", false),
    ])
    func `a certificate issued with PSS is judged weak by its digest, not by its mask digest`(
        digest: String,
        mask: String,
        isWeak: Bool
    ) throws {
        var factory = try CertificateFactory()
        let key = "RSA -pkeyopt rsa_keygen_bits:2048"
        try factory.issue("ca", subject: "/CN=CA", key: key, extensions: CertificateFactory.authority)
        let pss = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:20 -sigopt rsa_mgf1_md:\(mask)"
        try factory.issue(
            "leaf",
            subject: "/CN=leaf",
            by: "ca",
            extensions: CertificateFactory.person("a@example.com"),
            options: "-days 100 -\(digest) \(pss)"
        )
        let ca = try factory.certificate("ca")
        let leaf = try factory.certificate("leaf")
        let verdict = TrustStore(anchors: [ca])
            .judge(leaf, purpose: .signing, at: leaf.notBefore.addingTimeInterval(600))
        #expect(verdict.problems.map(\.code) == (isWeak ? ["chain-sha1"] : []))
        #expect(leaf.signatureAlgorithm == (isWeak ? "rsa-pss-sha1" : "rsa-pss"))
    }

    @Test func `a cached verdict is used for the same question only`() throws {
        for _ in 0..<2 {
            #expect(try judge("alice").isTrusted)
            #expect(try !judge("alice", in: TrustStore()).isTrusted)
            #expect(try !judge("alice", at: .judged.addingTimeInterval(1e10)).timeProblems.isEmpty)
            #expect(try judge("sign-only").isTrusted && !judge("sign-only", .encryption).isTrusted)
            let pinned = TrustStore(pinned: [try Certificate(fixture: "mallory/cert.pem").publicKeyDigest])
            #expect(try judge("mallory", in: pinned).isTrusted && !judge("mallory").isTrusted)
            var options = ValidationOptions(revocation: .off)
            #expect(try judge("alice", in: store.judging(by: options)).revocation == nil)
            options.revocation = .hard
            #expect(
                try judge("alice", in: store.judging(by: options)).revocation?.problems.contains { $0.level == .error }
                    == true
            )
        }
    }

    @Test(arguments: [
        ("mallory", "chain-no-anchor"), ("selfsigned", "chain-no-anchor"), ("wrong-eku", "chain-purpose"),
        ("wrong-ku", "key-usage"), ("encrypt-only", "key-usage"), ("ca-as-leaf", "end-entity-is-ca"),
        ("unknown-critical", "chain-unknown-critical-extension"), ("name-constraints", "chain-name-constraints"),
        ("leaf-as-ca", "chain-not-ca"),
    ])
    func `each fault of a chain has its problem code`(name: String, code: String) throws {
        let verdict = try judge(name)
        #expect(!verdict.isTrusted)
        #expect(verdict.problems.filter { $0.level == .error }.map(\.code) == [code])
        #expect(verdict.timeProblems.isEmpty)
    }

    @Test(
        arguments: [
            "alice", "expired", "expired-ca", "leaf-as-ca", "mallory", "name-constraints", "selfsigned", "sign-only",
            "unknown-critical", "weak", "wrong-eku",
        ],
        [Certificate.KeyPurpose.encryption, .signing]
    )
    func `a short verdict agrees with the full one on trust, time and revocation`(
        name: String,
        purpose: Certificate.KeyPurpose
    ) throws {
        let certificate = try Certificate(fixture: "\(name)/cert.pem")
        let chain = try Certificate.all(fixture: "\(name)/chain.pem")
        var pinned = store
        pinned.pinned = [certificate.publicKeyDigest]
        for store in [store, pinned, TrustStore(), store.judging(by: ValidationOptions(revocation: .hard))] {
            for extra in [chain, []] {
                func judge(_ detail: TrustStore.Detail) -> ChainVerdict {
                    store.judge(certificate, extra: extra, purpose: purpose, at: .judged, detail: detail)
                }
                let (whole, brief) = (judge(.everything), judge(.trust))
                #expect(brief.trust == whole.trust && brief.isTrusted == whole.isTrusted)
                #expect(brief.certificates == whole.certificates && brief.revocation == whole.revocation)
                #expect(brief.timeProblems == whole.timeProblems)
                if brief.isTrusted { #expect(brief.problems == whole.problems) }
            }
        }
    }

    @Test func `a certificate for signing only is not encrypted to`() throws {
        #expect(try judge("sign-only", .encryption).problems.map(\.code) == ["key-usage"])
        #expect(try judge("encrypt-only", .encryption).isTrusted)
        #expect(try judge("carol", .encryption).isTrusted)
    }

    @Test(arguments: [
        ("expired", ["certificate-expired"]), ("future", ["certificate-not-yet-valid"]),
        ("expired-ca", ["chain-expired"]),
    ])
    func `validity time is judged separately from the chain`(name: String, codes: [String]) throws {
        let verdict = try judge(name)
        #expect(verdict.isTrusted)
        #expect(verdict.timeProblems.map(\.code) == codes)
    }

    @Test func `validity is judged at the given time`() throws {
        #expect(try judge("expired", at: .in2020).timeProblems.map(\.code).contains("certificate-expired") == false)
        #expect(try judge("alice", at: .in2020).timeProblems.map(\.code).contains("certificate-not-yet-valid"))
    }

    @Test func `a short RSA key is a warning`() throws {
        let verdict = try judge("weak")
        #expect(verdict.isTrusted)
        #expect(verdict.problems.map(\.code) == ["weak-key"])
    }

    @Test func `a root included in a message is not trusted`() throws {
        let verdict = try judge("alice", in: TrustStore())
        #expect(verdict.trust == nil)
        #expect(verdict.problems.map(\.code) == ["chain-no-anchor"])
        #expect(verdict.certificates.count == 3)
    }

    @Test func `an intermediate can be an anchor, and a chain can come from the store`() throws {
        let intermediate = try Certificate(fixture: "ca/intermediate.pem")
        let alice = try Certificate(fixture: "alice/cert.pem")
        let anchored = TrustStore(anchors: [intermediate]).judge(alice, purpose: .signing, at: .judged)
        #expect(anchored.isTrusted && anchored.certificates == [alice, intermediate])
        var store = store
        #expect(store.judge(alice, purpose: .signing, at: .judged).problems.map(\.code) == ["chain-no-anchor"])
        store.intermediates = [intermediate]
        #expect(store.judge(alice, purpose: .signing, at: .judged).isTrusted)
    }

    @Test func `a pinned certificate needs no chain but must suit its purpose`() throws {
        let mallory = try Certificate(fixture: "mallory/cert.pem")
        let eku = try Certificate(fixture: "wrong-eku/cert.pem")
        let store = TrustStore(pinned: [mallory.publicKeyDigest, eku.publicKeyDigest])
        let verdict = store.judge(mallory, purpose: .signing, at: .judged)
        #expect(verdict.isTrusted && verdict.trust == .pinned)
        #expect(store.judge(eku, purpose: .signing, at: .judged).problems.map(\.code) == ["chain-purpose"])
    }

    @Test func `a revocation list revokes a certificate, and a missing list is reported`() throws {
        guard case .certificateList(let list) = try KeyMaterial.read(Fixtures.cert("revoked/crl.der")).first else {
            Issue.record("no list")
            return
        }
        var store = store
        store.certificateLists = [list]
        let revoked = try judge("revoked", in: store)
        #expect(revoked.isTrusted)
        #expect(revoked.revocation?.status == .revoked)
        #expect(revoked.revocation?.problems.map(\.code).contains("certificate-revoked") == true)
        let alice = try judge("alice", in: store)
        #expect(alice.revocation?.status != .revoked)
        #expect(alice.revocation?.problems.contains { $0.level == .error } == false)
    }

    @Test func `a revocation list with a forged signature is ignored`() throws {
        var der = try Fixtures.cert("revoked/crl.der")
        der[der.count - 1] ^= 1
        var store = store
        store.certificateLists = [try CertificateList(der: der)]
        let verdict = try judge("revoked", in: store)
        #expect(verdict.revocation?.status == .unknown)
        #expect(verdict.revocation?.problems.map(\.code).contains("crl-signature") == true)
    }

    @Test func `a certificate with a changed signature does not chain to its issuer`() throws {
        var der = try Certificate(fixture: "alice/cert.pem").der
        der[der.count - 1] ^= 1
        let chain = try Certificate.all(fixture: "alice/chain.pem")
        let verdict = store.judge(try Certificate(der: der), extra: chain, purpose: .signing, at: .judged)
        #expect(verdict.problems.map(\.code) == ["chain-signature"])
    }
}

@Suite struct PathFinderTests {
    /// Authorities with the same name: the issuer of the leaf, and others with other keys.
    private func makeSameNamed(_ count: Int, in folder: URL) throws {
        let script = """
            set -e
            key() { openssl ecparam -genkey -name prime256v1 -noout -out $1.key; }
            key right; key wrong; key leaf
            printf 'basicConstraints=CA:FALSE\\n' > leaf.ext
            printf '[req]\\ndistinguished_name=dn\\nx509_extensions=ca\\n[dn]\\n[ca]\\nbasicConstraints=critical,CA:TRUE\\n' > ca.cnf
            self() { openssl req -x509 -new -config ca.cnf -key $1.key -subj /CN=Same -set_serial $2 -days 36500 -out $3.pem; }
            self right 1 right
            for i in $(seq \(count)); do self wrong $((i + 1)) wrong$i; done
            cat wrong?*.pem > wrong.pem
            leaf() { openssl req -new -key leaf.key -subj /CN=Leaf | openssl x509 -req -CA $1.pem -CAkey $2.key \
            -set_serial 9999 -days 36500 -extfile leaf.ext -out $3.pem 2>/dev/null; }
            leaf right right leaf; leaf wrong1 wrong stray
            """
        let result = try CommandRunner("sh", folder: folder).run(["-c", script])
        try #require(result.status == 0, "\(result.errorText)")
    }

    private func certificates(_ name: String, in folder: URL) throws -> [Certificate] {
        try KeyMaterial.read(Array(Data(contentsOf: folder.appending(path: name)))).compactMap {
            if case .certificate(let certificate) = $0 { certificate } else { nil }
        }
    }

    @Test(.timeLimit(.minutes(15))) func `among many authorities of one name the right one is found`() throws {
        let openssl = try OpenSSLCommand()
        try makeSameNamed(60, in: openssl.folder)
        let right = try #require(try certificates("right.pem", in: openssl.folder).first)
        let leaf = try #require(try certificates("leaf.pem", in: openssl.folder).first)
        let wrong = try certificates("wrong.pem", in: openssl.folder)
        #expect(wrong.count == 60)
        // The certificates were made during this test, so their times do not matter here.
        let verdict = TrustStore(anchors: [right]).judge(
            leaf,
            extra: wrong + [right] + wrong,
            purpose: .signing,
            at: .judged
        )
        #expect(verdict.trust == .anchor(right.fingerprint))
        #expect(verdict.problems.isEmpty)
        let astray = TrustStore(anchors: wrong).judge(leaf, extra: wrong, purpose: .signing, at: .judged)
        #expect(astray.problems.map(\.code) == ["chain-signature"])

        // Sixty authorities with the same name and key, each of which issued every other one, so that there are innumerable
        // paths.
        let stray = try #require(try certificates("stray.pem", in: openssl.folder).first)
        let circling = TrustStore(anchors: [right]).judge(stray, extra: wrong, purpose: .signing, at: .judged)
        #expect(circling.trust == nil)
    }

    @Test(.timeLimit(.minutes(15)))
    func `a failed search leaves enough budget for the search among the system's anchors`() throws {
        let openssl = try OpenSSLCommand()
        try makeSameNamed(1100, in: openssl.folder)
        let script = "mkdir system && cp right.pem system && openssl rehash system"
        try #require(CommandRunner("sh", folder: openssl.folder).run(["-c", script]).status == 0)
        let leaf = try #require(try certificates("leaf.pem", in: openssl.folder).first)
        let store = TrustStore(
            anchors: [try Certificate(fixture: "ca/root.pem")],
            systemAnchors: SystemAnchors(folder: openssl.folder.appending(path: "system").path)
        )
        let wrong = try certificates("wrong.pem", in: openssl.folder)
        let right = try #require(try certificates("right.pem", in: openssl.folder).first)
        let verdict = store.judge(leaf, extra: wrong, purpose: .signing, at: .judged)
        #expect(verdict.trust == .anchor(right.fingerprint))
    }
}

@Suite struct SystemAnchorsTests {
    @Test func `an anchor of the system is found by its hashed name`() throws {
        let openssl = try OpenSSLCommand()
        let root = try Certificate(fixture: "ca/root.pem")
        try Data(Fixtures.cert("ca/root.pem")).write(to: openssl.folder.appending(path: "root.pem"))
        let result = try CommandRunner("openssl", folder: openssl.folder).run(["rehash", openssl.folder.path])
        try #require(result.status == 0, "\(result.errorText)")
        let store = TrustStore(systemAnchors: SystemAnchors(folder: openssl.folder.path))
        let verdict = store.judge(
            try Certificate(fixture: "alice/cert.pem"),
            extra: try Certificate.all(fixture: "alice/chain.pem"),
            purpose: .signing,
            at: .judged
        )
        #expect(verdict.isTrusted && verdict.trust == .anchor(root.fingerprint))
        let elsewhere = TrustStore(systemAnchors: SystemAnchors(folder: "/nonexistent"))
        #expect(elsewhere.judge(root, purpose: .signing, at: .judged).trust == nil)
    }

    @Test func `if the file of an anchor cannot be read, the verdict says so and is not final`() throws {
        let openssl = try OpenSSLCommand()
        let anchor = openssl.folder.appending(path: "root.pem")
        let root = try Data(Fixtures.cert("ca/root.pem"))
        try root.write(to: anchor)
        let result = try CommandRunner("openssl", folder: openssl.folder).run(["rehash", openssl.folder.path])
        try #require(result.status == 0, "\(result.errorText)")
        let store = TrustStore(systemAnchors: SystemAnchors(folder: openssl.folder.path))
        func verdict() throws -> ChainVerdict {
            let extra = try Certificate.all(fixture: "alice/chain.pem")
            return store.judge(
                try Certificate(fixture: "alice/cert.pem"),
                extra: extra,
                purpose: .encryption,
                at: .judged
            )
        }
        #expect(try verdict().incompleteness == nil && verdict().isTrusted)
        for content in [root.prefix(300), Data(), Data("no certificate\n".utf8)] {
            try content.write(to: anchor)
            let verdict = try verdict()
            #expect(verdict.incompleteness == .anchorUnreadable && !verdict.isTrusted)
            let problem = try #require(verdict.problems.first { $0.kind == .chainNotChecked })
            #expect(problem.text.hasPrefix(openssl.folder.path))
            #expect(!verdict.problems.contains { $0.kind == .chainNoAnchor })
        }
        // The link of a file that is not there.
        try FileManager.default.removeItem(at: anchor)
        #expect(try verdict().incompleteness == .anchorUnreadable)
        // No file and no link: the system has no such anchor.
        for name in try FileManager.default.contentsOfDirectory(atPath: openssl.folder.path) where name.hasSuffix(".0")
        {
            try FileManager.default.removeItem(at: openssl.folder.appending(path: name))
        }
        #expect(try verdict().incompleteness == nil)
        #expect(try verdict().problems.contains { $0.kind == .chainNoAnchor })
    }

    @Test func `the system's anchors are used if the store's anchors lead to no valid chain`() throws {
        var factory = try CertificateFactory()
        try factory.issue("old", subject: "/CN=Root", extensions: CertificateFactory.authority, options: "-days 1")
        try factory.issue("ca", subject: "/CN=CA", by: "old", extensions: CertificateFactory.authority)
        try factory.sh("cp ca.key new.key")
        try factory.issue("new", subject: "/CN=CA", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.org")
        try factory.issue("leaf", subject: "/CN=Leaf", by: "ca", extensions: person)
        try factory.sh("mkdir system && cp new.pem system && openssl rehash system")
        let (old, new) = (try factory.certificate("old"), try factory.certificate("new"))
        let (leaf, ca) = (try factory.certificate("leaf"), try factory.certificate("ca"))
        let folder = SystemAnchors(folder: factory.file("system").path)
        let store = TrustStore(anchors: [old], intermediates: [ca], systemAnchors: folder)
        let later = Date.now + 2 * 86_400
        #expect(store.judge(leaf, purpose: .signing, at: .now).trust == .anchor(old.fingerprint))
        #expect(store.judge(leaf, purpose: .signing, at: later).trust == .anchor(new.fingerprint))
        #expect(store.judge(leaf, purpose: .signing, at: later).problems.isEmpty)
        let alone = TrustStore(anchors: [old], intermediates: [ca]).judge(leaf, purpose: .signing, at: later)
        #expect(!(alone.problems + alone.timeProblems).isEmpty)
    }
}

@Suite struct LibcryptoTests {
    @Test func `the loaded libcrypto tells its version`() { #expect(Libcrypto.version.hasPrefix("OpenSSL 3")) }

    @Test func `the legacy provider can be loaded`() { #expect(Libcrypto.hasLegacyProvider) }
}
