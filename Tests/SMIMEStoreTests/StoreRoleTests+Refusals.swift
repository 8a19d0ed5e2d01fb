import PKIX
import SMIMEStore
import TestSupport
import Testing

/// What the role of a gateway cannot write.
extension StoreRoleTests {
    @Test func `a gateway changes neither the owner's tables nor the schema`() async throws {
        _ = try await home.open()
        _ = try await store(as: .gateway)
        for table in StoreRole.readOnlyTables {
            // The table store_version has one row, and no column `form`.
            let change = "UPDATE \(table) SET \(table == "store_version" ? "number" : "form") = 1"
            for statement in ["INSERT INTO \(table) DEFAULT VALUES", change, "DELETE FROM \(table)"] {
                #expect(refused(statement), "\(statement)")
            }
        }
        let tables = try server.run("SELECT tablename FROM pg_tables WHERE schemaname = 'smime'", in: name)
        for table in tables.split(separator: "\n") {
            let verbs = [
                "TRUNCATE \(table)", "DROP TABLE \(table)", "ALTER TABLE \(table) ADD COLUMN x int",
                "ALTER TABLE \(table) DISABLE ROW LEVEL SECURITY", "ALTER TABLE \(table) DISABLE TRIGGER ALL",
                "ALTER TABLE \(table) OWNER TO CURRENT_USER",
            ]
            for verb in verbs { #expect(refused(verb), "\(verb)") }
        }
        for statement in [
            "CREATE TABLE smime.x (x int)", "CREATE VIEW smime.x AS SELECT 1", "CREATE SCHEMA x",
            "CREATE FUNCTION smime.x() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP SCHEMA smime CASCADE",
            "DROP POLICY smime_insert ON certificate", "DROP TRIGGER change_counter_grows ON change_counter",
            "DROP FUNCTION smime.change_counter_grows() CASCADE", "DROP INDEX smime.delivery_by_time",
            "SET session_replication_role = replica",
        ] { #expect(refused(statement), "\(statement)") }
        try dropRoles()
    }

    @Test func `a gateway changes nothing but what it learned and recorded`() async throws {
        let owner = try await home.open()
        var batch = ImportBatch()
        batch.recipients = [
            .init(certificate: try Certificate(fixture: "bob/cert.pem"), addresses: [try .init("bob@example.com")])
        ]
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        _ = try await owner.add(batch, at: .judged)
        let gateway = try await store(as: .gateway)
        try await gateway.journal.record(
            ["x@example.com"],
            of: DeliveryJournal.Entry(queueID: "q", digest: [1]),
            at: .judged
        )
        for statement in [
            "INSERT INTO certificate (id) VALUES (2)", "UPDATE certificate SET der = ''",
            "UPDATE certificate SET addresses = 'eve@example.com'",
            "DELETE FROM certificate", "DELETE FROM recipient", "UPDATE recipient SET trust = 'pinned'",
            "UPDATE recipient SET address_key = 'eve@example.com'", "UPDATE recipient SET source = 'harvest'",
            "UPDATE recipient SET certificate = 0", "DELETE FROM intermediate", "UPDATE intermediate SET learned = 1",
            "INSERT INTO intermediate (certificate, learned) SELECT id, 0 FROM certificate",
            "UPDATE crl SET fetched = 1",
            "INSERT INTO change_counter (id, number) VALUES (2, 0)", "DELETE FROM change_counter",
            "UPDATE delivery SET recipient = 'y@example.com'", "UPDATE delivery SET queue_id = 'r'",
            "UPDATE delivery SET digest = ''",
        ] { #expect(refused(statement), "\(statement)") }
        #expect(!refused("UPDATE delivery SET time = time + 1"))
        try dropRoles()
    }
}
