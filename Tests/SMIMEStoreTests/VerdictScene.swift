import Foundation
import GRDB
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// A store with stored verdicts: a root, two authorities below it, a user certificate below each, and a self-signed one.
struct VerdictScene {
    let home: TemporaryHome
    let store: Store
    let certificates: [String: Certificate]
    let lists: [String: CertificateList]
    /// One hour after the start of all validity periods.
    let time: Date

    static let people = ["alice", "bob", "carol"]

    init() async throws {
        home = try TemporaryHome()
        var factory = try CertificateFactory()
        let authority = CertificateFactory.authority
        try factory.issue("root", subject: "/CN=Root", extensions: authority)
        try factory.issue("other", subject: "/CN=Other", extensions: authority)
        try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: authority, options: "-days 100")
        try factory.issue("ca2", subject: "/CN=CA 2", by: "root", extensions: authority)
        for (name, issuer, days) in [("alice", "ca", 200), ("bob", "ca2", 50), ("carol", nil, 70)] {
            try factory.issue(
                name,
                subject: "/CN=\(name)",
                by: issuer,
                extensions: CertificateFactory.person("\(name)@example.com"),
                options: "-days \(days)"
            )
        }
        let options = { (days: Int) in "-crldays \(days)" }
        try factory.revoke([], by: "ca", to: "good", options: options(20))
        try factory.sh("echo 05 >revoking.number; echo 07 >authority.number; echo 09 >own.number")
        try factory.revoke(["alice"], by: "ca", to: "revoking", options: options(40))
        try factory.revoke(["ca"], by: "root", to: "authority", options: options(60))
        try factory.revoke(["carol"], by: "carol", to: "own", options: options(30))
        try factory.revoke(["bob"], by: "alice", to: "named", options: options(35))
        var certificates: [String: Certificate] = [:]
        for name in ["root", "other", "ca", "ca2"] + Self.people {
            certificates[name] = try factory.certificate(name)
        }
        self.certificates = certificates
        lists = try ["good", "revoking", "authority", "own", "named"].reduce(into: [:]) {
            $0[$1] = try CertificateList(der: factory.bytes("\($1).crl"))
        }
        let begin = certificates.values.map(\.notBefore) + lists.values.map(\.thisUpdate)
        time = (begin.max() ?? .distantPast).addingTimeInterval(3600)
        store = try await home.open()
        var batch = ImportBatch()
        for name in Self.people {
            batch.recipients.append(
                .init(
                    certificate: try #require(certificates[name]),
                    addresses: [try AddressScope("\(name)@example.com")]
                )
            )
        }
        _ = try await store.add(batch, at: time)
        for name in ["ca", "ca2"] { try await add(name) }
        try await add("root", isAnchor: true)
    }

    func certificate(_ name: String) throws -> Certificate { try #require(certificates[name]) }

    func list(_ name: String) throws -> CertificateList { try #require(lists[name]) }

    func add(_ name: String, isAnchor: Bool = false) async throws {
        var batch = ImportBatch()
        if isAnchor { batch.anchors = [try certificate(name)] } else { batch.intermediates = [try certificate(name)] }
        _ = try await store.add(batch, at: time)
    }

    func addList(_ name: String) async throws {
        var batch = ImportBatch()
        batch.crls = [try list(name)]
        _ = try await store.add(batch, at: time)
    }

    /// Removes an intermediate certificate, for which there is no command.
    func removeIntermediate(_ name: String) async throws {
        let digits = try certificate(name).fingerprint.hexadecimal
        try await home.change(
            "DELETE FROM intermediate WHERE certificate = (SELECT id FROM certificate WHERE fingerprint = x'\(digits)')"
        )
    }

    func lookup(_ options: ValidationOptions = ValidationOptions(), systemAnchors: Bool = false) -> RecipientLookup {
        var lookup = RecipientLookup(store: store, systemAnchors: systemAnchors, options: options)
        lookup.fewestKept = 1
        return lookup
    }

    /// By person: the reasons from stored verdicts, as listing and encryption see them, and from a new judgement.
    func reasons(
        _ options: ValidationOptions = ValidationOptions(),
        after seconds: TimeInterval = 0
    ) async throws -> (kept: [String], listed: [String], fresh: [String]) {
        let date = time.addingTimeInterval(seconds)
        let scopes = try Self.people.map { try AddressScope("\($0)@example.com") }
        let kept = try await lookup(options).choices(for: scopes, at: date).choices
        let listed = try await lookup(options).overviews(of: scopes, at: date).overviews
        var fresh: [String] = []
        for scope in scopes {
            let recipients = try await store.recipients.certificates(for: scope)
            let trust = try await store.anchors.trust(judging: recipients.map(\.certificate), systemAnchors: false)
            let choice = RecipientChoice(
                address: scope,
                recipients: recipients,
                trust: trust.judging(by: options),
                at: date
            )
            fresh += choice.candidates.map(\.reason.rawValue)
        }
        return (
            kept.flatMap { $0.candidates.map(\.reason.rawValue) },
            listed.flatMap { $0.candidates.map(\.reason.rawValue) }, fresh
        )
    }

    /// The number of stored verdicts.
    func count() async throws -> Int {
        try await home.number("SELECT count(*) FROM verdict")
    }
}
