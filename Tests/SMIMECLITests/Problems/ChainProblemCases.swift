import Foundation
import PKIX
import TestSupport
import Testing

/// Problems of a certificate, its chain, and its revocation data.
enum ChainProblemCases {
    static let recipes: [ProblemCode: ProblemCaseTests.Recipe] = [
        .certificateExpired: { try judge("expired") },
        .certificateNotYetValid: { try judge("future") },
        .certificateRevoked: { try judge("revoked", lists: [list()]) },
        .chainExpired: { try judge("expired-ca") },
        .chainInvalid: { try made(key: "EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit") },
        .chainNameConstraints: { try judge("name-constraints") },
        .chainNoAnchor: { try judge("mallory") },
        .chainNotCA: { try judge("leaf-as-ca") },
        .chainNotChecked: {
            // An invalid version number, which libcrypto checks but this package does not.
            var der = try Certificate(fixture: "alice/cert.pem").der
            let version = try #require(der.indices.first { der[$0...].starts(with: [0xA0, 3, 2, 1, 2]) })
            der[version + 2] = 4
            return judge(try Certificate(der: der), in: TrustStore())
        },
        .chainNotYetValid: { try judge("alice", at: Date(timeIntervalSince1970: 1_590_969_600)) },
        .chainPolicy: {
            let options = ValidationOptions(policies: CertificatePolicies(acceptable: ["1.2.3.4"]))
            return judge(
                try Certificate(fixture: "alice/cert.pem"),
                in: try store().judging(by: options),
                extra: try Certificate.all(fixture: "alice/chain.pem")
            )
        },
        .chainDistrusted: {
            var trust = try store()
            trust.distrusted = [try Certificate(fixture: "alice/cert.pem").publicKeyDigest]
            return judge(
                try Certificate(fixture: "alice/cert.pem"),
                in: trust,
                extra: try Certificate.all(fixture: "alice/chain.pem")
            )
        },
        .chainPurpose: { try judge("wrong-eku") },
        .chainRevoked: {
            var factory = try CertificateFactory()
            try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
            try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: CertificateFactory.authority)
            try factory.issue(
                "leaf",
                subject: "/CN=L",
                by: "ca",
                extensions: CertificateFactory.person("a@example.com")
            )
            try factory.revoke(["ca"], by: "root", to: "list")
            return try judge("leaf", of: factory, lists: [CertificateList(der: factory.bytes("list.crl"))])
        },
        .chainSHA1: { try made(options: "-days 100 -sha1") },
        .chainSignature: {
            var der = try Certificate(fixture: "alice/cert.pem").der
            der[der.count - 1] ^= 1
            return try judge(Certificate(der: der), in: store(), extra: Certificate.all(fixture: "alice/chain.pem"))
        },
        .chainTooLong: {
            var factory = try CertificateFactory()
            let short = ["basicConstraints=critical,CA:TRUE,pathlen:0"]
            try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
            try factory.issue("first", subject: "/CN=First", by: "root", extensions: short)
            try factory.issue("ca", subject: "/CN=CA", by: "first", extensions: CertificateFactory.authority)
            try factory.issue(
                "leaf",
                subject: "/CN=L",
                by: "ca",
                extensions: CertificateFactory.person("a@example.com")
            )
            return try judge("leaf", of: factory, extra: ["first"])
        },
        .chainUnknownCriticalExtension: { try judge("unknown-critical") },
        .chainWeakSignature: { try made(authority: "RSA", options: "-days 100 -md5") },
        .crlExpired: { try judge("alice", at: list().nextUpdate?.addingTimeInterval(1), lists: [list()]) },
        .crlSignature: {
            var der = try Fixtures.cert("revoked/crl.der")
            der[der.count - 1] ^= 1
            return try judge("revoked", lists: [CertificateList(der: der)])
        },
        .endEntityIsCA: { try judge("ca-as-leaf") },
        .keyUsage: { try judge("wrong-ku") },
        .ocspUnusable: {
            let response = OCSPResponse(der: DER.sequence([5, 0]))
            let store = TrustStore(anchors: try Certificate.all(fixture: "ca/intermediate.pem"))
            let alice = try Certificate(fixture: "alice/cert.pem")
            let verdict = store.judge(alice, responses: [response], purpose: .signing, at: .judged)
            return verdict.revocation?.problems ?? []
        },
        .profileAlgorithm: { try profile("weak-signature", options: "-days 100 -sha224") },
        .profileKeySize: { try profile("weak-key", key: "RSA -pkeyopt rsa_keygen_bits:2044") },
        .profilePurpose: {
            let options = ValidationOptions(profile: .strict)
            return judge(try Certificate(fixture: "no-usages/cert.pem"), in: try store().judging(by: options))
        },
        .profileValidity: { try profile("long", options: "-days 1000") },
        .revocationUnknown: { try judge("alice", lists: [list()]) },
    ]

    /// The violations of the CA/Browser Forum's rules by a leaf issued with special options.
    private static func profile(
        _ name: String,
        key: String = "EC -pkeyopt ec_paramgen_curve:P-256",
        options: String = "-days 100"
    ) throws -> [Problem] {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com")
        try factory.issue(name, subject: "/CN=L", by: "root", key: key, extensions: person, options: options)
        let leaf = try factory.certificate("\(name)")
        return judge(leaf, in: TrustStore().judging(by: ValidationOptions(profile: .strict)))
    }

    private static func store() throws -> TrustStore {
        TrustStore(anchors: try Certificate.all(fixture: "ca/root.pem"))
    }

    private static func list() throws -> CertificateList { try CertificateList(der: Fixtures.cert("revoked/crl.der")) }

    /// The problems of the certificate `name` in `certs/`: trust, validity and revocation.
    private static func judge(
        _ name: String,
        at date: Date? = nil,
        lists: [CertificateList] = []
    ) throws -> [Problem] {
        var store = try store()
        store.certificateLists = lists
        let chain = try Certificate.all(fixture: "\(name)/chain.pem")
        return judge(try Certificate(fixture: "\(name)/cert.pem"), in: store, extra: chain, at: date ?? .judged)
    }

    private static func judge(
        _ certificate: Certificate,
        in store: TrustStore,
        extra: [Certificate] = [],
        at date: Date = .judged
    ) -> [Problem] {
        let verdict = store.judge(certificate, extra: extra, purpose: .signing, at: date)
        return verdict.problems + verdict.timeProblems + (verdict.revocation?.problems ?? [])
    }

    /// The problems of NAME.pem below root.pem and ca.pem of `factory`.
    private static func judge(
        _ name: String,
        of factory: borrowing CertificateFactory,
        extra: [String] = [],
        lists: [CertificateList] = []
    ) throws -> [Problem] {
        var certificates: [Certificate] = []
        for name in ["ca"] + extra { certificates += try [factory.certificate("\(name)")] }
        let leaf = try factory.certificate("\(name)")
        let store = TrustStore(anchors: try [factory.certificate("root")], certificateLists: lists)
        return judge(leaf, in: store, extra: certificates, at: leaf.notBefore.addingTimeInterval(60))
    }

    /// The problems of a leaf issued with special options.
    private static func made(
        key: String = "EC -pkeyopt ec_paramgen_curve:P-256",
        authority: String = "EC -pkeyopt ec_paramgen_curve:P-256",
        options: String = "-days 100"
    ) throws -> [Problem] {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.issue(
            "ca",
            subject: "/CN=CA",
            by: "root",
            key: authority,
            extensions: CertificateFactory.authority
        )
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("leaf", subject: "/CN=L", by: "ca", key: key, extensions: person, options: options)
        return try judge("leaf", of: factory)
    }
}
