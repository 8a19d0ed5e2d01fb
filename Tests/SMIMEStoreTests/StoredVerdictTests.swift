import Foundation
import GRDB
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// A verdict stored with a certificate always equals a new one.
@Suite struct StoredVerdictTests {
    private static let hard = ValidationOptions(revocation: .hard)
    private static let day: TimeInterval = 86_400

    private static func hard(_ lists: CertificateList...) -> ValidationOptions {
        var options = hard
        options.certificateLists = lists
        return options
    }

    /// Expects the reason `alice` for alice, and the given ones for the others, by all three methods.
    private func expect(
        _ scene: VerdictScene,
        _ alice: String,
        bob: String = "selected",
        _ options: ValidationOptions = ValidationOptions(),
        after seconds: TimeInterval = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // The first pass judges and stores, the second one uses the stored verdicts.
        for _ in 0..<2 {
            let reasons = try await scene.reasons(options, after: seconds)
            #expect(reasons.fresh == [alice, bob, "untrusted"], sourceLocation: sourceLocation)
            #expect(reasons.kept == reasons.fresh, sourceLocation: sourceLocation)
            #expect(reasons.listed == reasons.fresh, sourceLocation: sourceLocation)
        }
    }

    @Test(.onSQLite) func `a stored verdict is used`() async throws {
        let scene = try await VerdictScene()
        try await expect(scene, "selected")
        // While libcrypto reports errors anywhere in the process, possibly for lack of memory, no verdict is stored; other
        // tests in this process provoke errors.
        for _ in 0..<1_000 where try await scene.count() < 3 {
            try await Task.sleep(for: .milliseconds(50))
            _ = try await scene.reasons()
        }
        #expect(try await scene.count() == 3)
        try await scene.home.change("UPDATE verdict SET trusted = 1 - trusted")
        let reasons = try await scene.reasons()
        #expect(reasons.fresh == ["selected", "selected", "untrusted"])
        #expect(reasons.kept == ["untrusted", "untrusted", "selected"])
        #expect(reasons.listed == reasons.kept)
    }

    @Test(.onSQLite) func `a restored copy has no stored verdicts and no answers of sources`() async throws {
        let scene = try await VerdictScene()
        try await scene.home.change(
            """
            INSERT INTO verdict (certificate, by_pin, basis, since, until, trusted, pinned)
                SELECT id, 2, x'00', 0, 99999999999, 1, 0 FROM certificate;
            INSERT INTO lookup_answer (source, address_key, time, until, certificates, detail)
                VALUES ('ldap', 'dana@example.com', 0, 99999999999, x'', '')
            """
        )
        let copy = scene.home.path + "/copy.sqlite"
        try await scene.store.backup(to: copy)
        _ = try await Store.restore(scene.home.location, from: copy)
        #expect(try await scene.count() == 0)
        #expect(try await scene.home.number("SELECT count(*) FROM lookup_answer") == 0)
    }

    @Test func `stored verdicts follow added and removed anchors and intermediates`() async throws {
        let scene = try await VerdictScene()
        try await expect(scene, "selected")
        try await scene.removeIntermediate("ca")
        try await expect(scene, "untrusted")
        try await scene.add("ca")
        try await expect(scene, "selected")
        _ = try await scene.store.anchors.remove([try scene.certificate("root").fingerprint])
        try await expect(scene, "untrusted", bob: "untrusted")
        try await scene.add("ca", isAnchor: true)
        try await expect(scene, "selected", bob: "untrusted")
    }

    @Test func `stored verdicts follow new revocation lists, also about authorities`() async throws {
        let scene = try await VerdictScene()
        try await expect(scene, "selected")
        try await scene.addList("good")
        try await expect(scene, "selected")
        try await scene.addList("revoking")
        try await expect(scene, "revoked")
        try await scene.store.anchors.removeRevocationLists([try scene.list("revoking").fingerprint])
        try await expect(scene, "selected")
        try await scene.addList("authority")
        try await expect(scene, "revoked")
    }

    @Test func `stored verdicts follow changes of a folder of revocation lists`() async throws {
        let scene = try await VerdictScene()
        let (good, revoking) = (try scene.list("good"), try scene.list("revoking"))
        try await expect(scene, "revocation-unknown", bob: "revocation-unknown", Self.hard)
        var options = ValidationOptions()
        for (lists, alice) in [
            ([good], "selected"), ([good, revoking], "revoked"), ([revoking], "revoked"), ([], "selected"),
        ] {
            options.certificateLists = lists
            try await expect(scene, alice, options)
        }
        // A list in the name of a person with a self-signed certificate.
        options.certificateLists = [try scene.list("own")]
        try await expect(scene, "selected", options)
        options.certificateLists = []
        options.unreadableLists = ["the folder cannot be read"]
        let before = try await scene.count()
        try await expect(scene, "selected", options)
        #expect(try await scene.count() == before)
    }

    @Test func `a list in the name of a pinned person hides no list of the store`() async throws {
        let scene = try await VerdictScene()
        _ = try await scene.store.recipients.setTrust(.pinned, of: AddressScope("alice@example.com"))
        var options = ValidationOptions()
        options.certificateLists = [try scene.list("named")]
        try await expect(scene, "selected", options)
        try await scene.addList("revoking")
        try await expect(scene, "revoked", options)
    }

    @Test func `stored verdicts follow trust decisions`() async throws {
        let scene = try await VerdictScene()
        let alice = try AddressScope("alice@example.com")
        try await scene.addList("revoking")
        try await expect(scene, "revoked")
        _ = try await scene.store.recipients.setTrust(.pinned, of: alice)
        try await expect(scene, "revoked")
        try await scene.store.anchors.removeRevocationLists([try scene.list("revoking").fingerprint])
        try await expect(scene, "selected")
        _ = try await scene.store.anchors.remove([try scene.certificate("root").fingerprint])
        try await expect(scene, "selected", bob: "untrusted")
        _ = try await scene.store.recipients.setTrust(.chain, of: alice)
        try await expect(scene, "untrusted", bob: "untrusted")
        _ = try await scene.store.recipients.setTrust(.distrusted, of: alice)
        try await expect(scene, "distrusted", bob: "untrusted")
    }

    @Test func `stored verdicts follow changed options`() async throws {
        let scene = try await VerdictScene()
        try await scene.addList("revoking")
        try await expect(scene, "revoked")
        try await expect(scene, "selected", ValidationOptions(revocation: .off))
        try await expect(scene, "revoked", bob: "revocation-unknown", Self.hard)
        let policies = CertificatePolicies(acceptable: ["1.2.3.4"])
        try await expect(scene, "untrusted", bob: "untrusted", ValidationOptions(revocation: .off, policies: policies))
    }

    @Test func `stored verdicts follow the time, also backwards`() async throws {
        let scene = try await VerdictScene()
        try await scene.addList("good")
        let options = Self.hard
        try await expect(scene, "revocation-unknown", bob: "revocation-unknown", options, after: 5 * Self.day)
        try await expect(scene, "selected", after: 5 * Self.day)
        // In order, these expire: the list, bob, carol, the authority, alice.
        for (day, alice, bob, carol) in [
            (21.0, "selected", "selected", "untrusted"), (51, "selected", "expired", "untrusted"),
            (71, "selected", "expired", "expired"), (101, "untrusted", "expired", "expired"),
            (201, "expired", "expired", "expired"), (5, "selected", "selected", "untrusted"),
            (-1, "not-yet-valid", "not-yet-valid", "not-yet-valid"), (0, "selected", "selected", "untrusted"),
        ] {
            let reasons = try await scene.reasons(after: day * Self.day)
            #expect(reasons.fresh == [alice, bob, carol], "day \(day)")
            #expect(reasons.kept == reasons.fresh, "day \(day)")
            #expect(reasons.listed == reasons.fresh, "day \(day)")
        }
    }

    @Test func `stored verdicts agree at the second in which a certificate or list ends`() async throws {
        let scene = try await VerdictScene()
        try await scene.addList("good")
        for end in [try scene.certificate("ca").notAfter, try scene.list("good").nextUpdate ?? .distantPast] {
            let seconds = end.timeIntervalSince(scene.time)
            for offset in [-1, -0.5, 0, 0.5, 1, 0.5, 0, -0.5, -1, 0, 1, -1] {
                let options = Self.hard(try scene.list("authority"))
                for options in [ValidationOptions(), options] {
                    let reasons = try await scene.reasons(options, after: seconds + offset)
                    #expect(reasons.kept == reasons.fresh)
                    #expect(reasons.listed == reasons.fresh)
                }
            }
        }
    }

    @Test func `stored responses are checked each time`() async throws {
        let scene = try await VerdictScene()
        try await expect(scene, "selected")
        for name in ["alice", "ca"] {
            let digest = try scene.certificate(name).nameDigest.hexadecimal
            try await scene.home.change(
                "INSERT INTO ocsp_response (certificate, der, since, until) VALUES (x'\(digest)', x'00', 0, 1)"
            )
            let fingerprint = try scene.certificate("alice").fingerprint.hexadecimal
            try await scene.home.change(
                """
                UPDATE verdict SET trusted = 0
                    WHERE certificate = (SELECT id FROM certificate WHERE fingerprint = x'\(fingerprint)')
                """
            )
            try await expect(scene, "selected", bob: "selected")
            try await scene.home.change("DELETE FROM ocsp_response; DELETE FROM verdict")
            try await expect(scene, "selected")
        }
    }

    @Test func `a stored verdict in another certificate's row is not used`() async throws {
        let scene = try await VerdictScene()
        try await expect(scene, "selected")
        let digits = try (
            alice: scene.certificate("alice").fingerprint.hexadecimal,
            carol: scene.certificate("carol").fingerprint.hexadecimal
        )
        // carol's row gets alice's verdict, as if written by a delayed process.
        try await scene.home.change(
            """
            DELETE FROM verdict WHERE certificate = (SELECT id FROM certificate WHERE fingerprint = x'\(digits.carol)');
            UPDATE verdict SET certificate = (SELECT id FROM certificate WHERE fingerprint = x'\(digits.carol)')
                WHERE certificate = (SELECT id FROM certificate WHERE fingerprint = x'\(digits.alice)');
            """
        )
        try await expect(scene, "selected")
    }

    @Test(.onSQLite) func `few new verdicts, and those of a read-only store, are not stored`() async throws {
        let scene = try await VerdictScene()
        let scopes = try VerdictScene.people.map { try AddressScope("\($0)@example.com") }
        _ = try await RecipientLookup(store: scene.store, systemAnchors: false).choices(for: scopes, at: scene.time)
        #expect(try await scene.count() == 0)
        let reader = try await scene.home.open(.readOnly)
        var lookup = RecipientLookup(store: reader, systemAnchors: false)
        lookup.fewestKept = 1
        // Another process writes continuously.
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: scene.home.location.database, configuration: configuration)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let answer = try await lookup.overviews(of: scopes, at: scene.time)
        #expect(answer.overviews.compactMap(\.selected).count == 2)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await scene.count() == 0)
        _ = try await lookup.overviews(of: scopes, at: scene.time)
        #expect(try await scene.count() == 3)
        #expect(try await scene.store.check().isEmpty)
    }

    @Test func `stored verdicts agree with new ones after random changes`() async throws {
        let scene = try await VerdictScene()
        var generator = SeededGenerator(8)
        let moments =
            scene.certificates.values.flatMap { [$0.notBefore, $0.notAfter] }
            + scene.lists.values.flatMap { [$0.thisUpdate, $0.nextUpdate ?? $0.thisUpdate] }
        let names = scene.lists.keys.sorted()
        let policies: [RevocationPolicy] = [.soft, .soft, .hard, .off]
        var (options, seconds) = (ValidationOptions(), 0.0)
        for step in 0..<150 {
            let name = names[Int.random(in: 0..<names.count, using: &generator)]
            let person = try AddressScope(
                "\(VerdictScene.people[Int.random(in: 0..<3, using: &generator)])@example.com"
            )
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: try await scene.addList(name)
            case 1: try? await scene.store.anchors.removeRevocationLists([scene.list(name).fingerprint])
            case 2: try await scene.add("root", isAnchor: true)
            case 3: _ = try? await scene.store.anchors.remove([scene.certificate("root").fingerprint])
            case 4: try await scene.add("ca")
            case 5: try await scene.removeIntermediate("ca")
            case 6: options.certificateLists = try names.filter { _ in Bool.random(using: &generator) }.map(scene.list)
            case 7: options.revocation = policies[Int.random(in: 0..<policies.count, using: &generator)]
            case 8:
                let trusts: [KnownRecipient.Trust] = [.chain, .pinned, .distrusted, .chain]
                let trust = trusts[Int.random(in: 0..<trusts.count, using: &generator)]
                _ = try await scene.store.recipients.setTrust(trust, of: person)
            default:
                let moment = moments[Int.random(in: 0..<moments.count, using: &generator)]
                let offset = [-86_400.0, -1, 0, 0.5, 1, 3600][Int.random(in: 0..<6, using: &generator)]
                seconds = moment.timeIntervalSince(scene.time) + offset
            }
            let reasons = try await scene.reasons(options, after: seconds)
            #expect(reasons.kept == reasons.fresh, "step \(step)")
            #expect(reasons.listed == reasons.fresh, "step \(step)")
        }
    }
}
