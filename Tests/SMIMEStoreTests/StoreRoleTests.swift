import Foundation
import GRDB
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// The permissions of database roles.
@Suite(.startsServer(.postgreSQL)) final class StoreRoleTests {
    let home: TemporaryHome
    let server: PostgreSQLServer
    let name: String

    init() throws {
        home = try TemporaryHome(on: PostgreSQLServer.shared.get())
        (server, name) = try #require(home.database)
    }

    /// The store as a role of `kind` sees it.
    func store(as kind: StoreRole.Kind) async throws -> Store {
        let role = "\(name)-\(kind)"
        _ = try server.run("CREATE ROLE \"\(role)\" LOGIN", in: name)
        try await Store.grant([StoreRole(kind, role)], in: home.location)
        // Granting them a second time changes nothing.
        try await Store.grant([StoreRole(kind, role)], in: home.location)
        let location = StoreLocation(home: home.path).on(try PostgreSQLAddress(server.url(name, role: role)))
        return try await Store.open(location, mode: .readWrite)
    }

    func dropRoles() throws {
        for role in try server.run("SELECT rolname FROM pg_roles WHERE rolname LIKE '\(name)-%'", in: name).split(
            separator: "\n"
        ) { _ = try server.run("DROP OWNED BY \"\(role)\"; DROP ROLE \"\(role)\"", in: name) }
    }

    private func refuses(_ what: String, _ body: () async throws -> Void) async throws {
        let error = await #expect(throws: KeystoreError.self, "\(what)") { try await body() }
        let text = "\(try #require(error))"
        #expect(text.contains("permission denied") || text.contains("row-level security"), "\(what): \(text)")
    }

    /// Whether the gateway's role may not run `statement`.
    func refused(_ statement: String) -> Bool {
        let role = "SET session_replication_role = origin; SET ROLE \"\(name)-gateway\"; SET search_path = smime; "
        do { _ = try server.run(role + statement, in: name) } catch {
            return ["row-level security", "permission denied", "must be owner"].contains(
                where: error.localizedDescription.contains
            )
        }
        return false
    }

    @Test func `a gateway works, learns and writes the journal, and rules nothing`() async throws {
        let owner = try await home.open()
        var batch = try ImportBatch.people("alice")
        let bob = try Certificate(fixture: "bob/cert.pem")
        batch.recipients = [.init(certificate: bob, addresses: [try .init("bob@example.com")], isPinned: true)]
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        _ = try await owner.add(batch, at: .judged)
        let gateway = try await store(as: .gateway)
        _ = try await gateway.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        #expect(await gateway.obstacle() == nil)
        let entry = DeliveryJournal.Entry(queueID: "q", digest: [1])
        try await gateway.journal.record(["x@example.com"], of: entry, at: .judged)
        let sighting = try SignerSighting(
            address: EmailAddress("p384@example.com"),
            certificate: Certificate(fixture: "p384/cert.pem"),
            authorities: [Certificate(fixture: "ca/intermediate.pem")],
            capabilities: [0x30, 0x00]
        )
        #expect(try await gateway.recipients.learn([sighting], at: .judged).entries.count == 1)
        let later = Date.judged.addingTimeInterval(3 * 86_400)
        #expect(try await gateway.recipients.learn([sighting], at: later).changesStore)
        #expect(try await owner.recipients.count() == 3)

        try await refuses("settings") { try await gateway.settings.set("filter.tags", to: "on") }
        try await refuses("rules") { _ = try await gateway.policy.set(Policy.Rule(.global, sign: .never)) }
        try await refuses("anchors") {
            _ = try await gateway.anchors.remove(try await gateway.anchors.all().map(\.certificate.fingerprint))
        }
        try await refuses("accounts") { _ = try await gateway.add(try ImportBatch.people("several"), at: .judged) }
        let scope = try AddressScope("p384@example.com")
        for trust in [KnownRecipient.Trust.pinned, .distrusted] {
            try await refuses("trust") {
                _ = try await gateway.recipients.setTrust(trust, of: scope)
            }
        }
        try await refuses("a pin") { _ = try await gateway.add(batch, at: .judged) }
        try dropRoles()
    }

    @Test
    func `what a gateway writes past the program neither lies about a certificate nor decides, nor hides a change`()
        async throws
    {
        let owner = try await home.open()
        _ = try await store(as: .gateway)
        let (alice, bob) = (try Certificate(fixture: "alice/cert.pem"), try Certificate(fixture: "bob/cert.pem"))
        #expect(refused(wrongRow(for: alice, der: bob.der)))
        #expect(refused("UPDATE change_counter SET number = number - 1"))
        #expect(refused("UPDATE change_counter SET number = number + 1000"))
        #expect(!refused("UPDATE change_counter SET number = number + 1"))
        #expect(refused("UPDATE change_counter SET form = 9"))
        let list =
            "INSERT INTO crl (fingerprint, issuer_key, der, added, fetched) VALUES ('\\x00', '\\x00', '\\x00', 0, 1)"
        #expect(refused(list))
        // Wrong columns are corrected when the owner adds the certificate again.
        #expect(!refused(wrongRow(for: alice)))
        for trust in ["pinned", "distrusted"] {
            #expect(
                refused(
                    """
                    INSERT INTO recipient (address_key, certificate, address, source, first_seen, last_seen, trust)
                    SELECT 'x@example.com', id, 'x@example.com', 'harvest', 0, 0, '\(trust)' FROM certificate
                    """
                )
            )
        }
        var batch = ImportBatch()
        batch.recipients = [.init(certificate: alice, addresses: [try .init("alice@example.com")], isPinned: true)]
        _ = try await owner.add(batch, at: .judged)
        let addresses = try server.run("SELECT addresses FROM smime.certificate", in: name)
        #expect(addresses.contains("alice@example.com") && !addresses.contains("eve"))
        // A gateway must not decide which ciphers a pinned recipient supports.
        #expect(!refused("UPDATE recipient SET capabilities = '\\x3000', capabilities_time = 1, last_seen = 7"))
        let known =
            "SELECT count(*) FROM smime.recipient WHERE capabilities IS NULL AND capabilities_time IS NULL AND last_seen = 7"
        #expect(try await home.number(known) == 1)
        try dropRoles()
    }

    @Test func `a verdict that is forged in the database counts for nothing, and a gateway cannot write one`()
        async throws
    {
        var factory = try CertificateFactory()
        try factory.issue("eve", subject: "/CN=Eve", extensions: CertificateFactory.person("eve@example.com"))
        let certificate = try factory.certificate("eve")
        let (scope, time) = (try AddressScope("eve@example.com"), certificate.notBefore.addingTimeInterval(3600))
        var batch = ImportBatch()
        batch.recipients = [.init(certificate: certificate, addresses: [scope])]
        func reasons(_ store: Store) async throws -> [String] {
            var lookup = RecipientLookup(store: store, systemAnchors: false)
            lookup.fewestKept = 1
            let listed = try await lookup.overviews(of: [scope], at: time).overviews
            let chosen = try await lookup.choices(for: [scope], at: time).choices
            return listed.flatMap { $0.candidates.map(\.reason.rawValue) }
                + chosen.flatMap { $0.candidates.map(\.reason.rawValue) }
        }

        // A verdict's dependencies are the same in every store, so a store in a file shows what a forger has to write.
        let file = try TemporaryHome(on: nil)
        let local = try await file.open()
        _ = try await local.add(batch, at: time)
        // While libcrypto reports errors anywhere in the process, no verdict is stored; other tests in this process provoke
        // errors.
        for _ in 0..<1_000 where try await file.number("SELECT count(*) FROM verdict") == 0 {
            try await Task.sleep(for: .milliseconds(50))
            #expect(try await reasons(local) == ["untrusted", "untrusted"])
        }
        try await file.change("UPDATE verdict SET trusted = 1")
        let select = "SELECT '''\\x' || hex(basis) || '''::bytea, ' || since || ', ' || until FROM verdict"
        let values = try #require(try await file.query { try String.fetchOne($0, sql: select) })
        #expect(try await reasons(Store.open(file.location, mode: .readOnly)) == ["selected", "selected"])

        let owner = try await home.open()
        _ = try await owner.add(batch, at: time)
        let gateway = try await store(as: .gateway)
        for store in [owner, gateway] { #expect(try await reasons(store) == ["untrusted", "untrusted"]) }
        #expect(try await home.number("SELECT count(*) FROM smime.verdict") == 0)
        let forgery = """
            INSERT INTO smime.verdict (certificate, by_pin, basis, since, until, trusted, pinned)
            SELECT id, 0, \(values), 1, 0 FROM smime.certificate
            """
        for statement in [forgery, "UPDATE verdict SET trusted = 1", "DELETE FROM verdict"] {
            #expect(refused(statement), "\(statement)")
        }
        _ = try server.run(forgery + "; UPDATE smime.change_counter SET number = number + 1", in: name)
        #expect(try await home.number("SELECT count(*) FROM smime.verdict") == 1)
        for store in [owner, gateway] { #expect(try await reasons(store) == ["untrusted", "untrusted"]) }
        let copy = try TemporaryHome(on: nil)
        _ = try await owner.copy(to: copy.location)
        #expect(try await copy.number("SELECT count(*) FROM verdict") == 0)
        try dropRoles()
    }

    @Test func `rights are renewed, and the owner keeps its own`() async throws {
        _ = try await home.open()
        let gateway = try await store(as: .gateway)
        _ = try server.run("REVOKE ALL ON smime.lookup_answer FROM \"\(name)-gateway\"", in: name)
        try await Store.renewRights(in: home.location)
        let question = "SELECT has_table_privilege('\(name)-gateway', 'smime.lookup_answer', 'INSERT')"
        #expect(try server.run(question, in: name).hasPrefix("t"))
        await #expect(throws: KeystoreError.self) {
            try await Store.grant([StoreRole(.gateway, "smime")], in: home.location)
        }
        _ = gateway
        try dropRoles()
    }

    @Test func `a reader reads`() async throws {
        _ = try await home.open().add(try ImportBatch.people("alice"), at: .judged)
        let reader = try await store(as: .reader)
        #expect(try await reader.accounts.all().count == 1)
        try await refuses("the journal") {
            try await reader.journal.record(["x@example.com"], of: .init(queueID: "q", digest: [1]), at: .judged)
        }
        try dropRoles()
    }

    @Test func `every table is the owner's or has rights for gateways`() async throws {
        _ = try await home.open()
        let tables = try server.run("SELECT tablename FROM pg_tables WHERE schemaname = 'smime'", in: name)
        let granted = try StoreRole(.gateway, "g").statements.filter {
            $0.hasPrefix("GRANT") && !$0.hasPrefix("GRANT SELECT")
        }
        .flatMap { $0.split { !$0.isLetter && $0 != "_" } }
        for table in tables.split(separator: "\n") {
            #expect(granted.contains(table) != StoreRole.readOnlyTables.contains(String(table)), "\(table)")
        }
    }

    @Test(arguments: ["", "a b", "a\"; DROP TABLE account; --", "ä", "a?"])
    func `what is no plain name of a role is refused`(role: String) {
        #expect(throws: KeystoreError.self) { try StoreRole(.gateway, role) }
    }

    @Test func `a dump of the database opens nothing`() async throws {
        let owner = try await home.open()
        _ = try await owner.add(try ImportBatch.people("alice"), at: .judged)
        let dump = try CommandRunner(try #require(PostgreSQLServer.programs) + "/pg_dump").run([
            "-h", server.folder, "-U", "smime", name,
        ])
        #expect(dump.status == 0 && dump.text.contains("COPY smime.private_key"))
        let copy = try TemporaryHome(on: PostgreSQLServer.shared.get())
        let other = try #require(copy.database)
        let file = FileManager.default.temporaryDirectory.appending(path: "dump-\(name).sql")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(dump.text.utf8).write(to: file)
        let restored = try CommandRunner(try #require(PostgreSQLServer.programs) + "/psql").run([
            "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", server.folder, "-U", "smime", "-d", other.name, "-f", file.path,
        ])
        #expect(restored.status == 0, "\(restored.errorText)")
        let thief = try await Store.open(copy.location, mode: .readOnly)
        #expect(try await thief.accounts.all().count == 1)
        let error = await #expect(throws: KeystoreError.self) {
            try await thief.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
        #expect(error == .keyMissing(path: copy.location.keyFile))
        guard case .key(.keyMissing)? = await thief.obstacle() else {
            Issue.record("the missing key is not noticed")
            return
        }
        // With the key file, the copy is a backup.
        try FileManager.default.createDirectory(atPath: copy.location.keyFolder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: home.location.keyFile, toPath: copy.location.keyFile)
        _ = try await thief.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
    }
}
