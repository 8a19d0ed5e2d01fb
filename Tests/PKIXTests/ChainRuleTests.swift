import Foundation
import PKIX
import TestSupport
import Testing

/// The rules of S/MIME for chains, tested with certificates made for each case.
@Suite struct ChainRuleTests {
    /// The errors of the chain of NAME.pem below the anchors. `extra` are further certificates, in this order.
    private func errors(
        _ name: String,
        _ factory: borrowing CertificateFactory,
        anchors: [String] = ["root"],
        extra: [String] = ["ca"],
        options: ValidationOptions = ValidationOptions()
    ) throws -> [String] {
        let verdict = try judge(name, factory, anchors: anchors, extra: extra, options: options)
        let problems = verdict.problems + verdict.timeProblems + (verdict.revocation?.problems ?? [])
        return problems.filter { $0.level == .error }.map(\.code)
    }

    private func judge(
        _ name: String,
        _ factory: borrowing CertificateFactory,
        anchors: [String] = ["root"],
        extra: [String] = ["ca"],
        options: ValidationOptions = ValidationOptions()
    ) throws -> ChainVerdict {
        func read(_ name: String) throws -> [Certificate] {
            try KeyMaterial.read(factory.bytes("\(name).pem")).compactMap {
                if case .certificate(let certificate) = $0 { certificate } else { nil }
            }
        }
        var store = TrustStore(anchors: [])
        for name in anchors { store.anchors += try read(name) }
        var others: [Certificate] = []
        for name in extra { others += try read(name) }
        let leaf = try #require(try read(name).first)
        let date = leaf.notBefore.addingTimeInterval(60)
        return store.judging(by: options).judge(leaf, extra: others, purpose: .signing, at: date)
    }

    private func makeAuthorities(_ factory: inout CertificateFactory, ca: [String] = []) throws {
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: CertificateFactory.authority + ca)
    }

    @Test(arguments: [
        ("", []), ("extendedKeyUsage=anyExtendedKeyUsage", []), ("extendedKeyUsage=emailProtection", []),
        ("extendedKeyUsage=clientAuth,emailProtection", []), ("extendedKeyUsage=clientAuth,anyExtendedKeyUsage", []),
        ("extendedKeyUsage=clientAuth", ["chain-purpose"]), ("extendedKeyUsage=critical,1.2.3.4", ["chain-purpose"]),
    ])
    func `the extended key usages that RFC 8550 admits are accepted anywhere in the chain`(
        usage: String,
        expected: [String]
    ) throws {
        var factory = try CertificateFactory()
        try makeAuthorities(&factory, ca: [usage])
        let plain = ["subjectAltName=email:a@example.com"]
        try factory.issue("plain", subject: "/CN=P", by: "ca", extensions: plain)
        try factory.issue("leaf", subject: "/CN=L", by: "root", extensions: plain + [usage])
        #expect(try errors("plain", factory) == expected)
        #expect(try errors("leaf", factory) == expected)
    }

    @Test(arguments: [
        ("digitalSignature", []), ("nonRepudiation", []), ("digitalSignature,keyEncipherment", []),
        ("keyEncipherment", ["key-usage"]), ("keyAgreement", ["key-usage"]), ("dataEncipherment", ["key-usage"]),
    ])
    func `a signer without a signing key usage is refused`(usage: String, expected: [String]) throws {
        var factory = try CertificateFactory()
        try makeAuthorities(&factory)
        let extensions = CertificateFactory.person("a@example.com") + ["keyUsage=\(usage)"]
        try factory.issue("leaf", subject: "/CN=L", by: "ca", extensions: extensions)
        #expect(try errors("leaf", factory) == expected)
    }

    @Test func `certificates of a chain may come in any order, twice, and among unrelated ones`() throws {
        var factory = try CertificateFactory()
        try makeAuthorities(&factory)
        try factory.issue("ca2", subject: "/CN=CA2", by: "ca", extensions: CertificateFactory.authority)
        try factory.issue("other", subject: "/CN=Other", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("leaf", subject: "/CN=L", by: "ca2", extensions: person)
        let orders = [["ca", "ca2"], ["ca2", "ca"], ["other", "ca2", "root", "leaf", "ca", "other", "ca", "ca2"]]
        for order in orders { #expect(try errors("leaf", factory, extra: order) == [], "\(order)") }
        #expect(try errors("leaf", factory, extra: ["ca2"]) == ["chain-no-anchor"])
    }

    @Test func `a cross-certificate leads to the known anchor, and a circle of them to none`() throws {
        var factory = try CertificateFactory()
        try makeAuthorities(&factory)
        try factory.issue("old", subject: "/CN=Old", extensions: CertificateFactory.authority)
        // Two certificates with the same key and name, one issued by its own root and one by an old root, which the
        // authority certifies in turn.
        try factory.sh("cp ca.key cross.key; cp old.key back.key")
        try factory.issue("cross", subject: "/CN=CA", by: "old", extensions: CertificateFactory.authority)
        try factory.issue("back", subject: "/CN=Old", by: "ca", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("leaf", subject: "/CN=L", by: "ca", extensions: person)
        let all = ["back", "cross", "ca"]
        #expect(try errors("leaf", factory, anchors: ["root"], extra: all) == [])
        #expect(try errors("leaf", factory, anchors: ["old"], extra: all) == [])
        #expect(try judge("leaf", factory, anchors: ["old"], extra: all).certificates.count == 3)
        #expect(try errors("leaf", factory, anchors: [], extra: all) == ["chain-no-anchor"])
    }

    @Test(.timeLimit(.minutes(15)))
    func `a search among hundreds of authorities with one name and different keys stays within the budget`() throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Same", extensions: ["basicConstraints=critical,CA:TRUE"])
        try factory.sh(
            """
            printf '[req]\\ndistinguished_name=dn\\nx509_extensions=ca\\n[dn]\\n[ca]\\nbasicConstraints=critical,CA:TRUE\\n' >ca.cnf
            for i in $(seq 200); do
                openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out k 2>/dev/null
                openssl req -x509 -new -config ca.cnf -key k -subj /CN=Same -days 9 >>all.pem
            done
            """
        )
        let person = ["subjectAltName=email:a@example.com", "authorityKeyIdentifier=none"]
        try factory.issue("leaf", subject: "/CN=L", by: "root", extensions: person)
        #expect(try errors("leaf", factory, extra: ["all"]) == [])
        #expect(try errors("leaf", factory, anchors: ["all"], extra: ["all", "all"]) == ["chain-signature"])
    }

    @Test func `a required certificate policy is compared by its object identifier`() throws {
        var factory = try CertificateFactory()
        try makeAuthorities(&factory, ca: ["certificatePolicies=1.2.3.4,1.2.3.5"])
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("none", subject: "/CN=N", by: "ca", extensions: person)
        let policies = ["certificatePolicies=1.2.3.4"]
        try factory.issue("leaf", subject: "/CN=L", by: "ca", extensions: person + policies)
        func options(_ policies: String..., explicit: Bool = false) -> ValidationOptions {
            ValidationOptions(policies: CertificatePolicies(acceptable: policies, isExplicit: explicit))
        }
        #expect(try errors("leaf", factory) == [])
        #expect(try errors("none", factory) == [])
        #expect(try errors("leaf", factory, options: options(explicit: true)) == [])
        #expect(try errors("none", factory, options: options(explicit: true)) == ["chain-policy"])
        #expect(try errors("leaf", factory, options: options("1.2.3.4")) == [])
        #expect(try errors("leaf", factory, options: options("1.2.3.5")) == ["chain-policy"])
        #expect(try errors("leaf", factory, options: options("1.2.3.5", "1.2.3.4")) == [])
    }

    @Test func `a breach of the CA/Browser Forum rules is a warning only`() throws {
        var factory = try CertificateFactory()
        try makeAuthorities(&factory)
        let good = CertificateFactory.person("a@example.com")
        try factory.issue("good", subject: "/CN=G", by: "ca", extensions: good, options: "-days 825")
        let bad = ["subjectAltName=email:a@example.com", "extendedKeyUsage=emailProtection,codeSigning"]
        try factory.issue(
            "bad",
            subject: "/CN=B",
            by: "ca",
            key: "RSA -pkeyopt rsa_keygen_bits:2044",
            extensions: bad,
            options: "-days 826 -sha224"
        )
        let options = ValidationOptions(revocation: .off, profile: .strict)
        #expect(try judge("good", factory, options: options).problems == [])
        let verdict = try judge("bad", factory, options: options)
        #expect(
            Set(verdict.problems.map(\.code)).isSuperset(
                of: ["profile-algorithm", "profile-key-size", "profile-purpose", "profile-validity"]
            )
        )
        #expect(verdict.isTrusted)
        #expect(
            try judge("bad", factory, options: ValidationOptions(revocation: .off)).problems.map(\.code) == ["weak-key"]
        )
    }

    @Test func `the CA/Browser Forum rules do not concern the authorities of a pinned certificate`() throws {
        var factory = try CertificateFactory()
        let key = "RSA -pkeyopt rsa_keygen_bits:2044"
        try factory.issue("ca", subject: "/CN=C", key: key, extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("leaf", subject: "/CN=L", by: "ca", extensions: person, options: "-days 800")
        let (leaf, ca) = (try factory.certificate("leaf"), try factory.certificate("ca"))
        let options = ValidationOptions(revocation: .off, profile: .strict)
        for (store, isReported) in [(TrustStore(pinned: [leaf.publicKeyDigest]), false), (TrustStore(), true)] {
            let verdict = store.judging(by: options).judge(leaf, extra: [ca], purpose: .signing, at: leaf.notBefore)
            #expect(verdict.isTrusted == !isReported)
            #expect(verdict.problems.contains { $0.code == "profile-key-size" } == isReported, "\(verdict.problems)")
        }
    }

    @Test func `a part of a day counts as a day of the validity period`() throws {
        var factory = try CertificateFactory()
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("leaf", subject: "/CN=L", extensions: person, options: "-days 826")
        var der = try factory.certificate("leaf").der
        // The period consists of two UTCTime elements. It now begins at noon and ends at midnight: 825.5 days.
        let header: [UInt8] = [0x30, 0x1E, 0x17, 0x0D]
        let start = try #require(der.firstRange(of: header)).upperBound
        der.replaceSubrange((start + 6)..<(start + 12), with: Array("120000".utf8))
        der.replaceSubrange((start + 21)..<(start + 27), with: Array("000000".utf8))
        let leaf = try Certificate(der: der)
        let store = TrustStore().judging(by: ValidationOptions(revocation: .off, profile: .strict))
        let problems = store.judge(leaf, purpose: .signing, at: leaf.notBefore).problems
        let text = problems.first { $0.code == "profile-validity" }?.text
        #expect(text?.contains("valid for 826 days") == true, "\(problems)")
    }

    @Test func `no chain leads through an authority with a weak RSASSA-PSS key`() throws {
        var factory = try CertificateFactory()
        let key = "RSA-PSS -pkeyopt rsa_keygen_bits:1000"
        try factory.issue("root", subject: "/CN=R", key: key, extensions: CertificateFactory.authority)
        try factory.issue("one", subject: "/CN=O", by: "root", extensions: CertificateFactory.person("one@example.com"))
        let verdict = try judge("one", factory, extra: [], options: ValidationOptions(revocation: .off))
        #expect(!verdict.isTrusted)
        #expect(verdict.problems.map(\.code).contains("weak-key"))
    }
}

/// Name constraints apply to an address wherever it is in the certificate.
@Suite struct NameConstraintTests {
    /// An address in one place of the certificate, under a constraint such as `email:example.com`.
    struct Case: Sendable, CustomTestStringConvertible {
        let constraint: String
        let subject: String
        let names: String
        let isAllowed: Bool

        var testDescription: String { "\(constraint), \(subject) \(names)" }

        init(_ constraint: String, isAllowed: Bool, subject: String = "/CN=L", names: String = "") {
            (self.constraint, self.subject, self.names, self.isAllowed) = (constraint, subject, names, isAllowed)
        }
    }

    private static let mailbox = "subjectAltName=@names\n[names]\notherName=1.3.6.1.5.5.7.8.9;FORMAT:UTF8,UTF8:"
    private static let permitted = "permitted;email:example.com"
    private static let excluded = "excluded;email:example.com"
    /// excludedSubtrees with an empty rfc822Name.
    private static let emptyExcluded = "DER:30:06:A1:04:30:02:81:00"

    /// excludedSubtrees with an rfc822Name in U-labels, which RFC 5280 §7.5 forbids: bücher.example.
    private static let uLabels = "DER:30:15:A1:13:30:11:81:0F:62:C3:BC:63:68:65:72:2E:65:78:61:6D:70:6C:65"
    /// permittedSubtrees and excludedSubtrees with an SmtpUTF8Mailbox: example.com.
    private static let international =
        "30:1B:A0:19:06:08:2B:06:01:05:05:07:08:09:A0:0D:0C:0B:65:78:61:6D:70:6C:65:2E:63:6F:6D"
    private static let permittedInternational = "DER:30:1F:A0:1D:\(international)"
    private static let excludedInternational = "DER:30:1F:A1:1D:\(international)"

    static let cases = [
        Case(uLabels, isAllowed: false, names: "subjectAltName=email:a@xn--bcher-kva.example"),
        Case(permittedInternational, isAllowed: true, names: "\(mailbox)пётр@example.com"),
        Case(permittedInternational, isAllowed: false, names: "\(mailbox)пётр@example.net"),
        Case(excludedInternational, isAllowed: false, names: "\(mailbox)пётр@example.com"),
        Case(excludedInternational, isAllowed: true, names: "\(mailbox)пётр@example.net"),
        Case(permitted, isAllowed: true, names: "subjectAltName=email:a@example.com"),
        Case(permitted, isAllowed: true, names: "subjectAltName=email:a@EXAMPLE.com"),
        Case(permitted, isAllowed: false, names: "subjectAltName=email:a@example.net"),
        Case(permitted, isAllowed: false, names: "subjectAltName=email:a@sub.example.com"),
        Case(permitted, isAllowed: false, names: "subjectAltName=email:a@example.com,email:b@example.net"),
        Case("permitted;email:.example.com", isAllowed: true, names: "subjectAltName=email:a@sub.example.com"),
        Case("permitted;email:.example.com", isAllowed: false, names: "subjectAltName=email:a@example.com"),
        Case("permitted;email:a@example.com", isAllowed: true, names: "subjectAltName=email:a@example.com"),
        Case("permitted;email:a@example.com", isAllowed: false, names: "subjectAltName=email:b@example.com"),
        Case(excluded, isAllowed: false, names: "subjectAltName=email:a@example.com"),
        Case(excluded, isAllowed: true, names: "subjectAltName=email:a@example.net"),
        Case(emptyExcluded, isAllowed: false, names: "subjectAltName=email:a@example.com"),
        Case(emptyExcluded, isAllowed: false, subject: "/CN=L/emailAddress=a@example.com"),
        Case(emptyExcluded, isAllowed: true, names: "subjectAltName=DNS:example.com"),
        Case(permitted, isAllowed: true, subject: "/CN=L/emailAddress=a@example.com"),
        Case(permitted, isAllowed: false, subject: "/CN=L/emailAddress=a@example.net"),
        Case(
            permitted,
            isAllowed: false,
            subject: "/CN=L/emailAddress=b@example.net",
            names: "subjectAltName=email:a@example.com"
        ),
        Case(excluded, isAllowed: false, subject: "/CN=L/emailAddress=a@example.com"),
        Case(permitted, isAllowed: true, names: "\(mailbox)пётр@example.com"),
        Case(permitted, isAllowed: false, names: "\(mailbox)пётр@example.net"),
        Case(excluded, isAllowed: false, names: "\(mailbox)пётр@example.com"),
        Case("permitted;email:xn--e1afmkfd.test", isAllowed: true, names: "\(mailbox)пётр@xn--e1afmkfd.test"),
        Case("excluded;email:xn--e1afmkfd.test", isAllowed: false, names: "\(mailbox)пётр@xn--e1afmkfd.test"),
        Case("excluded;email:example.com.", isAllowed: false, names: "subjectAltName=email:a@example.com"),
        Case("excluded;email:.example.com.", isAllowed: false, names: "subjectAltName=email:a@sub.example.com"),
        Case("excluded;email:a@example.com.", isAllowed: false, names: "subjectAltName=email:a@example.com"),
        Case("excluded;email:example.com.", isAllowed: true, names: "subjectAltName=email:a@example.net"),
        Case("permitted;email:example.com.", isAllowed: true, names: "subjectAltName=email:a@example.com"),
        Case("permitted;email:example.com.", isAllowed: false, names: "subjectAltName=email:a@example.net"),
        Case("excluded;email:@example.com", isAllowed: false, names: "\(mailbox)пётр@example.com"),
        Case("excluded;email:@example.com", isAllowed: false, names: "subjectAltName=email:a@example.com"),
        Case(
            "permitted;email:example.com.",
            isAllowed: false,
            names: "subjectAltName=email:a@example.com,email:a@example.net"
        ),
    ]

    @Test(arguments: cases) func `a name constraint on addresses is applied`(test: Case) throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        let constraint = "nameConstraints=critical,\(test.constraint)"
        let authority = CertificateFactory.authority + [constraint]
        try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: authority)
        try factory.issue("leaf", subject: test.subject, by: "ca", extensions: [test.names])
        let leaf = try factory.certificate("leaf")
        let store = TrustStore(
            anchors: [try factory.certificate("root")],
            intermediates: [try factory.certificate("ca")]
        )
        let verdict = store.judge(leaf, purpose: .signing, at: leaf.notBefore.addingTimeInterval(60))
        let errors = verdict.problems.filter { $0.level == .error }.map(\.code)
        #expect(errors == (test.isAllowed ? [] : ["chain-name-constraints"]))
    }
}
