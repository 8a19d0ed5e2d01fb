import CPostgreSQL
import Foundation

/// A database on a PostgreSQL server, named by a connection string in URL form.
///
/// Source: https://www.postgresql.org/docs/current/libpq-connect.html
package struct PostgreSQLAddress: Equatable, Sendable {
    /// The options for libpq. libpq takes all others from its own environment variables, service files and password files.
    let options: [String: String]
    /// The URL without the password and without options, for messages.
    package let name: String
    /// Whether the URL contains a password. Every user of the host can read a URL on a command line.
    package let hasPassword: Bool

    /// Whether `text` has the scheme of a server URL.
    package static func names(_ text: String) -> Bool {
        text.hasPrefix("postgresql:") || text.hasPrefix("postgres:")
    }

    /// - Throws: `KeystoreError.unusableAddress` for a malformed URL, and for a URL that disables the verification of a
    ///   server across a network; `.cannotOpen` if libpq is missing.
    package init(_ url: String) throws(KeystoreError) {
        let shown = url.split(separator: "@").last.map(String.init) ?? ""
        do { try self.init(parsing: url) } catch { throw KeystoreError(error, path: shown) }
    }

    private init(parsing url: String) throws {
        let given = try Self.parse(url)
        hasPassword = given["password"] != nil || given["sslpassword"] != nil
        let place = [given["host"] ?? given["hostaddr"], given["port"].map { ":\($0)" }].compactMap(\.self).joined()
        name =
            "postgresql://" + (given["user"].map { "\($0)@" } ?? "") + place + "/" + (given["dbname"] ?? "")
            + (given["service"].map { "?service=\($0)" } ?? "")
        options = try Self.standard.merging(given) { $1 }.merging(Self.protection(of: given, name)) { $1 }
    }

    /// The defaults for options that the URL does not set. A server that does not answer must not delay mail for long.
    private static let standard = [
        "application_name": "smime", "client_encoding": "UTF8", "connect_timeout": "5", "keepalives_idle": "10",
        "keepalives_interval": "5", "keepalives_count": "3", "target_session_attrs": "read-write",
        "tcp_user_timeout": "15000",
    ]

    /// Across a network the server must prove its name with a certificate: an impostor could read all mail.
    private static func protection(of given: [String: String], _ name: String) throws -> [String: String] {
        let environment = ProcessInfo.processInfo.environment
        let isElsewhere = given["service"] != nil || environment["PGSERVICE"] != nil
        // libpq connects to `hostaddr` and verifies the certificate against `host`. Each of them may name another host,
        // whether the URL or the environment sets it.
        let places = [given["hostaddr"] ?? environment["PGHOSTADDR"], given["host"] ?? environment["PGHOST"]]
        let hosts = places.compactMap(\.self).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard isElsewhere || !hosts.allSatisfy(isLocal) else { return [:] }
        guard given["sslmode"] ?? "verify-full" == "verify-full" else {
            throw KeystoreError.unusableAddress(name: name, why: "a server elsewhere needs sslmode=verify-full")
        }
        return ["sslmode": "verify-full", "gssencmode": "disable"]
    }

    /// Whether the server is on this host: a Unix socket, or a loopback address.
    private static func isLocal(_ host: Substring) -> Bool {
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
    }

    private static func parse(_ url: String) throws -> [String: String] {
        guard let options = try PostgreSQLLibrary.shared.options(in: url) else {
            throw KeystoreError.unusableAddress(name: "--store", why: "is no URL like postgresql://user@host/database")
        }
        return options
    }
}
