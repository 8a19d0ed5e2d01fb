import Foundation
import TestSupport
import Testing

/// Gateways that share a store on a PostgreSQL server. `scripts/test --fleet` runs only this suite, `--servers` runs it with
/// the others.
@Suite(.startsServer(.postgreSQL)) struct FleetTests {
    /// SMIME_TEST_FLEET sets the number of messages.
    @Test func `Four gateways on one database lose nothing and send nothing in clear while all of it is being killed`()
        async throws
    {
        let count = ProcessInfo.processInfo.environment["SMIME_TEST_FLEET"].flatMap { Int($0) } ?? 200
        try await TestProgram("Tests/MailServers/fleet", seconds: 900 + count).run()
    }
}
