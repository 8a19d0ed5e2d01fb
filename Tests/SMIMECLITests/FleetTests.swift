import Foundation
import TestSupport
import Testing

/// Gateways that share a store on a PostgreSQL server. `scripts/test --fleet` runs this alone, `--servers` with the others.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SMIME_TEST_SERVERS"] != nil, "scripts/test --fleet runs it"))
struct FleetTests {
    /// SMIME_TEST_FLEET says how many messages go through.
    @Test(.enabled(if: PostgreSQLServer.programs != nil, "postgresql is not installed"))
    func `Four gateways on one database lose nothing and send nothing in clear while all of it is being killed`() throws
    {
        let count = ProcessInfo.processInfo.environment["SMIME_TEST_FLEET"].flatMap { Int($0) } ?? 200
        try TestProgram("Tests/MailServers/fleet", seconds: 900 + count).run()
    }
}
