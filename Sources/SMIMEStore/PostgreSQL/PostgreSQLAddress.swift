import CPostgreSQL
import Foundation

/// A database on a PostgreSQL server, named by a connection string in URL form.
///
/// Source: https://www.postgresql.org/docs/current/libpq-connect.html
package struct PostgreSQLAddress: Equatable, Sendable {
    /// The options for libpq. libpq takes all others from its own environment variables, service files and password files.
    let options: [String: String]
    /// The URL without the password and without options other than `service`, for messages.
    package let name: String
    /// Whether the URL contains a password or another secret. Every user of the host can read a URL on a command line.
    package let hasPassword: Bool

    /// Whether `text` has the scheme of a server URL.
    package static func names(_ text: String) -> Bool {
        text.hasPrefix("postgresql:") || text.hasPrefix("postgres:")
    }

    /// - Throws: `KeystoreError.unusableAddress` for a malformed URL, for a URL that disables the verification of a server
    ///   across a network, and for one that prefers a standby; `.cannotOpen` if libpq is missing.
    package init(_ url: String) throws(KeystoreError) {
        // No part of the URL is shown: it may contain a password.
        do { try self.init(parsing: url) } catch { throw KeystoreError(error, path: Self.unparsed) }
    }

    private init(parsing url: String) throws {
        let given = try Self.parse(url)
        hasPassword = Self.secrets.contains { given[$0] != nil }
        let place = [given["host"] ?? given["hostaddr"], given["port"].map { ":\($0)" }].compactMap(\.self).joined()
        name =
            "postgresql://" + (given["user"].map { "\($0)@" } ?? "") + place + "/" + (given["dbname"] ?? "")
            + (given["service"].map { "?service=\($0)" } ?? "")
        guard given["target_session_attrs"] != "prefer-standby" else {
            throw KeystoreError.unusableAddress(
                name: name,
                why: "target_session_attrs=prefer-standby uses a standby even while the primary is available, "
                    + "so outgoing mail would wait forever; use target_session_attrs=any and name the primary first"
            )
        }
        let hosts = (given["host"] ?? given["hostaddr"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let standard = hosts.count > 1 ? Self.standard.merging(Self.several) { $1 } : Self.standard
        options = try standard.merging(given) { $1 }.merging(Self.protection(of: given, name)) { $1 }
    }

    /// The name in errors for a URL that was not parsed.
    private static let unparsed = "the store's address"

    /// The options whose values are secret.
    private static let secrets = [
        "oauth_client_secret", "password", "scram_client_key", "scram_server_key", "sslpassword",
    ]

    /// The defaults for options that the URL does not set. A server that does not answer must not delay mail for long.
    private static let standard = [
        "application_name": "smime", "client_encoding": "UTF8", "connect_timeout": "5", "keepalives_idle": "10",
        "keepalives_interval": "5", "keepalives_count": "3", "target_session_attrs": "read-write",
        "tcp_user_timeout": "15000",
    ]

    /// The defaults for several servers: if the first one does not answer, there must be time for the next one before the
    /// caller gives up (`StoreOpening.timeout`). libpq allows no less.
    private static let several = ["connect_timeout": "2"]

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
            throw KeystoreError.unusableAddress(name: name, why: "a server on another host needs sslmode=verify-full")
        }
        return ["sslmode": "verify-full", "gssencmode": "disable"]
    }

    /// Whether the server is on this host: a Unix socket, or a loopback address.
    private static func isLocal(_ host: Substring) -> Bool {
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
    }

    private static func parse(_ url: String) throws -> [String: String] {
        let form = "a URL like postgresql://user@host/database"
        guard names(url) else { throw KeystoreError.unusableAddress(name: unparsed, why: "not \(form)") }
        let library = try PostgreSQLLibrary.shared
        if let options = library.options(in: url) {
            // A part of a password with an unescaped @ or slash is read as host or database, and would be shown with it.
            let hosts = (options["host"] ?? "").split(separator: ",")
            let isPlain = options["dbname"]?.contains("@") != true
            guard hosts.contains(where: { $0.dropFirst().contains("@") }) || !isPlain else { return options }
        }
        let why =
            wrongOption(in: url, library).map { "libpq does not accept the option \($0), or its value" }
            ?? "malformed: it must be \(form), with special characters percent-encoded (%40 for @)"
        throw KeystoreError.unusableAddress(name: unparsed, why: why)
    }

    /// The first option after the question mark of `url` that libpq does not accept; nil if there is none, or if the text
    /// there may be a part of a password.
    private static func wrongOption(in url: String, _ library: PostgreSQLLibrary) -> String? {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].contains("@"), library.options(in: String(parts[0])) != nil else {
            return nil
        }
        let option = parts[1].split(separator: "&").first { library.options(in: "postgresql:///?\($0)") == nil }
        guard let name = option?.split(separator: "=", omittingEmptySubsequences: false).first else { return nil }
        let isName = !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLowercase || $0 == "_") }
        return isName ? String(name) : nil
    }
}
