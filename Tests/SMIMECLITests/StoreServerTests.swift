import Foundation
import TestSupport
import Testing

/// The command with a store on a PostgreSQL server.
@Suite(.startsServer(.postgreSQL)) final class StoreServerTests {
    private static let server = Result { try PostgreSQLServer(port: Int.random(in: 20_000..<32_000)) }

    private let temporary: TemporaryFolder
    private let home: String
    private let url: String

    init() throws {
        temporary = try TemporaryFolder()
        home = temporary.file("store").path
        url = try Self.server.get().url(Self.server.get().makeDatabase())
    }

    private func smime(_ words: [String], environment: [String: String] = [:]) throws -> CommandResult {
        let own = ["PATH": "/usr/bin:/bin", "HOME": temporary.path, "SMIME_HOME": home]
        return try CommandRunner(Tool.smime().path, environment: own.merging(environment) { $1 }).run(words)
    }

    private func importAlice(_ words: [String]) throws {
        let result = try smime(
            ["import"] + words + [Fixtures.root.appending(path: "certs/alice/alice.p12").path, "--password-env", "PW"],
            environment: ["PW": "test"]
        )
        #expect(result.status == 0, "\(result.errorText)")
    }

    @Test func `a store is made on a server, used, and copied back`() throws {
        let before = try smime(["--store", url, "account", "list"])
        #expect(before.status == 78 && before.errorText.contains("smime store init"), "\(before.errorText)")
        let made = try smime(["--store", url, "store", "init"])
        #expect(made.status == 0 && made.errorText.contains("made an empty store"), "\(made.errorText)")
        #expect(try smime(["store", "init"], environment: ["SMIME_STORE": url]).errorText.contains("a store already"))
        try importAlice(["--store", url])
        let accounts = try smime(["account", "list"], environment: ["SMIME_STORE": url])
        #expect(accounts.text.contains("alice@example.com"))
        #expect(try smime(["--store", url, "store", "check"]).status == 0)
        let back = try smime(["store", "copy", "--from", url])
        #expect(back.status == 0 && back.text.contains("private_key: 1\n"), "\(back.errorText)")
        #expect(try smime(["account", "list"]).text == accounts.text)
        #expect(try smime(["store", "check"]).status == 0)
        #expect(try smime(["store", "copy", "--to", url]).status == 78)
        #expect(
            try smime(["--store", url, "store", "backup", "-o", temporary.file("b").path]).errorText.contains(
                "store copy"
            )
        )
    }

    @Test func `a password in arguments is refused and not shown`() throws {
        let secret = url.replacingOccurrences(of: "smime@", with: "smime:geheim@")
        for words in [["--store", secret, "account", "list"], ["store", "copy", "--to", secret]] {
            let result = try smime(words)
            #expect(result.status == 64 && result.errorText.contains("password"), "\(result.errorText)")
            #expect(!result.errorText.contains("geheim"))
        }
        let unescaped = try smime(
            ["account", "list"],
            environment: ["SMIME_STORE": "postgresql://u:a@geheim@127.0.0.1/x"]
        )
        #expect(unescaped.status != 0 && unescaped.errorText.contains("%40"), "\(unescaped.errorText)")
        #expect(!unescaped.errorText.contains("geheim"))
        // Only the same user can read the environment.
        #expect(try smime(["store", "init"], environment: ["SMIME_STORE": secret]).status == 0)
    }

    @Test func `libpq brings no configuration of libcrypto with it`() throws {
        _ = try smime(["--store", url, "store", "init"])
        let configuration = temporary.file("evil.cnf")
        try Data("openssl_conf = a\n[a]\nalg_section = b\n[b]\ndefault_properties = fips=yes\n".utf8).write(
            to: configuration
        )
        let mail = temporary.file("mail.eml")
        try importAlice(["--store", url])
        try Data("From: alice@example.com\r\n\r\nHello\r\n".utf8).write(to: mail)
        let result = try smime(["--store", url, "sign", mail.path], environment: ["OPENSSL_CONF": configuration.path])
        #expect(result.status == 0 && result.text.contains("pkcs7-signature"), "\(result.errorText)")
    }

    @Test func `roles get their rights, also in a store that is there, or the statements are printed`() throws {
        let server = try Self.server.get()
        let words = ["store", "init", "--gateway-role", "smime", "--reader-role", "no-such-role"]
        let printed = try smime(["--store", url] + words + ["--print-sql"])
        #expect(
            printed.status == 0 && printed.text.hasPrefix("BEGIN;\nSET LOCAL search_path = smime, pg_temp;\nREVOKE ALL")
        )
        #expect(printed.text.hasSuffix(";\nCOMMIT;\n"))
        #expect(printed.text.contains("GRANT SELECT ON ALL TABLES IN SCHEMA smime TO \"no-such-role\";\n"))
        #expect(try smime(["--store", url, "account", "list"]).status == 78, "printing made a store")
        let absent = try smime(["--store", url] + words)
        #expect(absent.status == 78 && absent.errorText.contains("no role no-such-role"), "\(absent.errorText)")
        #expect(try smime(["--store", url, "account", "list"]).status == 78, "a store was made for a missing role")
        let owner = try smime(["--store", url, "store", "init", "--gateway-role", "smime"])
        #expect(owner.status != 0 && owner.errorText.contains("owns the tables"), "\(owner.errorText)")
        let missing = try smime(["--store", url, "store", "init", "--reader-role", "no-such-role"])
        #expect(missing.status == 78 && missing.errorText.contains("no-such-role"), "\(missing.errorText)")
        let role = "gw\(UUID().uuidString.prefix(8).lowercased())"
        let database = try #require(url.split(separator: "/").last?.split(separator: "?").first.map(String.init))
        _ = try server.run("CREATE ROLE \(role) LOGIN", in: database)
        let given = try smime(["--store", url, "store", "init", "--gateway-role", role])
        #expect(given.status == 0 && given.errorText.contains("a store already"), "\(given.errorText)")
        let gateway = server.url(database, role: role)
        #expect(try smime(["--store", gateway, "account", "list"]).status == 0)
        let refused = try smime(["--store", gateway, "policy", "set", "--global", "--sign", "never"])
        #expect(refused.status == 78 && refused.errorText.contains("permission denied"), "\(refused.errorText)")
        #expect(try smime(["store", "init", "--gateway-role", "a b", "--print-sql"]).status == 64)
    }

    @Test func `where the server is read-only, outgoing mail waits and incoming mail is verified`() throws {
        _ = try smime(["--store", url, "store", "init"])
        try importAlice(["--store", url])
        let (program, sent) = (temporary.file("send"), temporary.file("sent"))
        try Data("#!/bin/sh\ncat >>\(sent.path)\n".utf8).write(to: program)
        chmod(program.path, 0o755)
        let server = try Self.server.get()
        let database = try #require(url.split(separator: "/").last?.split(separator: "?").first.map(String.init))
        _ = try server.run("ALTER DATABASE \(database) SET default_transaction_read_only = on", in: database)
        func filter(_ role: String) throws -> CommandResult {
            let mail = temporary.file("mail.eml")
            try Data("From: alice@example.com\r\nTo: bob@example.org\r\n\r\nHello\r\n".utf8).write(to: mail)
            let words = ["--store", url + "&target_session_attrs=any", "filter", role, "--sendmail", program.path]
            let envelope = ["--queue-id", "4ABC", "--sender", "alice@example.com", "--", "bob@example.org"]
            return try CommandRunner(
                Tool.smime().path,
                environment: ["PATH": "/usr/bin:/bin", "HOME": temporary.path, "SMIME_HOME": home]
            ).run(words + envelope, input: .bytes(Array(Data(contentsOf: mail))))
        }
        let outgoing = try filter("outgoing")
        #expect(outgoing.status == 75)
        #expect(outgoing.errorText.contains("the database server is read-only"), "\(outgoing.errorText)")
        #expect(!FileManager.default.fileExists(atPath: sent.path))
        let incoming = try filter("incoming")
        #expect(
            incoming.status == 0 && incoming.errorText.contains("may send the message again"),
            "\(incoming.errorText)"
        )
        #expect(try String(contentsOf: sent, encoding: .utf8).contains("Authentication-Results:"))
    }

    @Test func `a key file is kept as long as the server may still commit the change that needs it`() throws {
        // A server of its own: while the synchronous standby is away, no transaction of the server ends.
        let server = try PostgreSQLServer(port: Int.random(in: 20_000..<32_000))
        let store = ["--store", server.url(try server.makeDatabase())]
        _ = try smime(store + ["store", "init"])
        try importAlice(store)
        func setStandby(_ name: String) throws {
            _ = try server.run("ALTER SYSTEM SET synchronous_commit = on", in: "postgres")
            _ = try server.run("ALTER SYSTEM SET synchronous_standby_names = '\(name)'", in: "postgres")
            _ = try server.run("SELECT pg_reload_conf()", in: "postgres")
        }
        func keyFiles() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "\(home)/key").sorted()
        }
        let before = try keyFiles()
        try setStandby("away")
        let process = Process()
        process.executableURL = try Tool.smime()
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": temporary.path, "SMIME_HOME": home]
        process.arguments = store + ["store", "rekey"]
        try process.run()
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        for _ in 0..<6000 where try !server.run(waiting, in: "postgres").contains("1") { usleep(10_000) }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let during = try keyFiles()
        // The new key file, and the second name of the old one.
        #expect(during.count == before.count + 2)
        let add = store + ["import", Fixtures.root.appending(path: "certs/bob/cert.pem").path]
        let other = try smime(add)
        #expect(other.status == 75, "\(other.status) \(other.errorText)")
        #expect(try keyFiles() == during)
        try setStandby("")
        #expect(try smime(add).status == 0)
        let after = try keyFiles()
        #expect(after.filter { !$0.contains(".old-") } == before)
        #expect(after.count == before.count + 1)
        let export = ["export", "alice@example.com", "-o", temporary.file("alice.p12").path, "--password-env", "PW"]
        let exported = try smime(store + export, environment: ["PW": "test"])
        #expect(exported.status == 0, "\(exported.errorText)")
    }

    @Test func `settings of a host stand in a file of its own`() throws {
        _ = try smime(["--store", url, "store", "init"])
        let refused = try smime(["--store", url, "config", "set", "lookup.command", "/bin/find"])
        #expect(refused.status == 78 && refused.errorText.contains("/etc/smime/host.conf"), "\(refused.errorText)")
        let socket = try smime(["--store", url, "config", "set", "lookup.ldap", "ldapi://%2Fldapi/dc=example"])
        #expect(socket.status == 78 && socket.errorText.contains("socket of one host"), "\(socket.errorText)")
        let file = temporary.file("host.conf")
        try Data("lookup.command /bin/find\n".utf8).write(to: file)
        chmod(file.path, 0o644)
        let list = try smime(["--store", url, "--host-settings", file.path, "config", "list"])
        #expect(list.text.contains("lookup.command=/bin/find\n") && list.errorText.contains("from \(file.path)"))
        let named = ["SMIME_HOST_SETTINGS": file.path]
        let report = try smime(["--store", url, "config", "list", "--json"], environment: named)
        #expect(report.text.contains("origins"), "\(report.text)")
        #expect(
            try smime(["--store", url, "config", "get", "lookup.command"], environment: named).text == "/bin/find\n"
        )
        #expect(try smime(["--store", url, "doctor"], environment: named).text.contains("host-settings"))
        chmod(file.path, 0o666)
        let open = try smime(["--store", url, "config", "list"], environment: named)
        #expect(open.status == 78 && open.errorText.contains("others can write it"), "\(open.errorText)")
        // A link whose target is missing is a file on a disk that is not mounted.
        let link = "\(home)/key/host.conf"
        symlink(temporary.file("unmounted").path, link)
        let away = try smime(["--store", url, "config", "list"])
        #expect(away.status == 78 && away.errorText.contains("\(link): No such file"), "\(away.errorText)")
        unlink(link)
        // A store in a file contains these settings itself.
        let other = ["SMIME_HOME": temporary.file("other").path]
        let own = try smime(["config", "set", "lookup.command", "/bin/find"], environment: other)
        #expect(own.status == 0, "\(own.errorText)")
        let server = try Self.server.get()
        let copied = try smime(["store", "copy", "--to", server.url(server.makeDatabase())], environment: other)
        #expect(copied.status == 0 && copied.errorText.contains("not copied"), "\(copied.errorText)")
        #expect(copied.errorText.contains("lookup.command"), "\(copied.errorText)")
    }

    @Test func `a server that does not answer leaves time for the next one`() throws {
        _ = try smime(["--store", url, "store", "init"])
        // The system accepts the connection, but no program reads from it.
        let silent = try SilentServer()
        let port = try #require(url.firstMatch(of: /port=([0-9]+)/)?.1)
        let database = try #require(url.split(separator: "/").last?.split(separator: "?").first)
        let both = "postgresql://smime@127.0.0.1:\(silent.port),127.0.0.1:\(port)/\(database)"
        let result = try smime(["--store", both, "account", "list"])
        #expect(result.status == 0, "\(result.errorText)")
    }

    @Test func `a server that is away is worth another try`() throws {
        let result = try smime(["--store", "postgresql://127.0.0.1:1/db", "account", "list"])
        #expect(result.status == 75 && result.errorText.contains("cannot be reached"), "\(result.errorText)")
    }
}

/// A TCP port on which connections are accepted and never answered.
private final class SilentServer {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        #if os(Linux)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (socket, count) = (descriptor, length)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, count) == 0 && listen(socket, 16) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(result)
    }

    deinit { close(descriptor) }
}
