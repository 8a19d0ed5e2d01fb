import Foundation
public import Testing

/// A server that tests start.
public enum TestServer: Sendable {
    case postgreSQL, slapd, bind
    /// `smime serve`, or a mail server with `smime` as its filter. The tests themselves check whether these are installed.
    case mail

    /// Whether tests that start servers run: `scripts/test --servers` sets SMIME_TEST_SERVERS.
    private static let areWanted = ProcessInfo.processInfo.environment["SMIME_TEST_SERVERS"] != nil

    private var isInstalled: Bool {
        switch self {
        case .postgreSQL: PostgreSQLServer.programs != nil
        case .slapd: DirectoryServer.isInstalled
        case .bind: NameServer.isInstalled
        case .mail: true
        }
    }

    private var packages: String {
        switch self {
        case .postgreSQL: "postgresql"
        case .slapd: "slapd"
        case .bind: "bind9 bind9-utils"
        case .mail: ""
        }
    }

    fileprivate var mayStart: Bool { Self.areWanted && isInstalled }

    fileprivate var reason: String {
        Self.areWanted
            ? "not installed (Debian: apt install \(packages))" : "starts servers: scripts/test --servers runs it"
    }
}

extension Trait where Self == ConditionTrait {
    /// For suites that start `server`. They run only if SMIME_TEST_SERVERS is set, as `scripts/test --servers` and `--fleet`
    /// do. `--servers` runs the suites of all files that use this trait, so a suite must be named as its file.
    public static func startsServer(_ server: TestServer) -> Self {
        .enabled(if: server.mayStart, "\(server.reason)")
    }
}
