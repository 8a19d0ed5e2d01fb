import Foundation

/// A PostgreSQL of its own in a temporary folder, reached by a Unix socket there. It ends with this process, however that ends.
///
/// Debian's programs are used. As root, which PostgreSQL refuses, the server runs as Debian's user `postgres`.
public final class PostgreSQLServer: Sendable {
    /// The folder of the programs; nil where PostgreSQL is not installed.
    public static let programs: String? = {
        let versions = "/usr/lib/postgresql"
        let found = ((try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? [])
            .sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }.map { "\(versions)/\($0)/bin" }
        return found.last { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    /// A server that all tests of a process share; each takes a database of its own.
    public static let shared = Result { try PostgreSQLServer() }

    /// The folder of the data and the socket.
    public let folder: String
    /// The port on loopback, which also names the socket; nil if the server listens to the standard socket alone.
    private let port: Int?
    /// The server ends with the other end of this pipe.
    private let life: Pipe
    private let programs: String

    /// - Parameters:
    ///   - settings: lines for `postgresql.conf`.
    ///   - port: a port on loopback to listen on, too.
    public init(settings: [String] = [], port: Int? = nil) throws {
        self.port = port
        let listening = port.map { ["listen_addresses = '127.0.0.1'", "port = \($0)"] } ?? []
        guard let programs = Self.programs else { throw CocoaError(.featureUnsupported) }
        self.programs = programs
        folder = FileManager.default.temporaryDirectory.appending(path: "smime-pg-\(UUID().uuidString.prefix(8))").path
        life = Pipe()
        // No other program that a test starts may hold it open.
        _ = fcntl(life.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", Self.script, "sh", folder, programs, (Self.standard + listening + settings).joined(separator: "\n"),
        ]
        process.standardInput = life
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("ready") else {
            throw CocoaError(.executableLoad)
        }
    }

    /// Nothing of it has to outlast the power.
    private static let standard = [
        "fsync = off", "synchronous_commit = off", "full_page_writes = off", "listen_addresses = ''",
        "max_connections = 300",
    ]

    /// Makes the folder, starts the server, says so, and stops it and removes the folder when its input ends.
    private static let script = """
        folder=$1 programs=$2
        as() { if [ "$(id -u)" = 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }
        mkdir -m 700 "$folder" || exit 1
        [ "$(id -u)" != 0 ] || chown postgres "$folder"
        as "$programs/initdb" -D "$folder/data" -A trust -U smime -N -E UTF8 --locale=C.UTF-8 >/dev/null || exit 1
        printf '%s\\nunix_socket_directories = '"'%s'"'\\n' "$3" "$folder" >>"$folder/data/postgresql.conf"
        as "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w start >/dev/null </dev/null || exit 1
        echo ready
        exec >/dev/null
        trap '' INT TERM HUP
        cat >/dev/null
        as "$programs/pg_ctl" -D "$folder/data" -m immediate stop
        rm -rf "$folder"
        """

    /// The URL of `database`, for user `role`.
    public func url(_ database: String, role: String = "smime") -> String {
        "postgresql://\(role)@/\(database)?" + (port.map { "host=127.0.0.1&port=\($0)" } ?? "host=\(folder)")
    }

    /// Makes an empty database.
    ///
    /// - Returns: its name.
    public func makeDatabase() throws -> String {
        let name = "db\(UUID().uuidString.prefix(8).lowercased())"
        _ = try run("CREATE DATABASE \(name)", in: "postgres")
        return name
    }

    /// Removes a database, also while it is used.
    public func dropDatabase(_ name: String) { _ = try? run("DROP DATABASE \(name) WITH (FORCE)", in: "postgres") }

    /// Runs SQL as the administrator, without regard to references.
    ///
    /// - Returns: the values, one on each line, those of one row with `|` between.
    public func run(_ sql: String, in database: String) throws -> String {
        var environment = ProcessInfo.processInfo.environment
        environment["PGOPTIONS"] = "-c search_path=smime,public -c session_replication_role=replica"
        let result = try CommandRunner("\(programs)/psql", environment: environment).run([
            "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "smime", "-d", database, "-p", "\(port ?? 5432)",
            "-c", sql,
        ])
        guard result.status == 0 else {
            throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: result.errorText])
        }
        return result.text.trimmingCharacters(in: .newlines)
    }

    /// Makes it a standby that follows no primary, at once: it takes no changes until `SELECT pg_promote()`.
    public func becomeStandby() throws {
        let path = "\(folder)/data/standby.signal"
        try Data().write(to: URL(filePath: path))
        if geteuid() == 0, let owner = getpwnam("postgres") { chown(path, owner.pointee.pw_uid, owner.pointee.pw_gid) }
        try restart()
    }

    /// Starts the server anew, at once: transactions that are under way are cut off.
    public func restart() throws {
        let words = [
            "\(programs)/pg_ctl", "-D", "\(folder)/data", "-l", "\(folder)/log", "-m", "immediate", "-w", "restart",
        ]
        let user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        let result =
            geteuid() == 0
            ? try CommandRunner("setpriv", folder: URL(filePath: "/")).run(
                user + words,
                output: .file(URL(filePath: "/dev/null"))
            )
            : try CommandRunner(words[0]).run(Array(words.dropFirst()), output: .file(URL(filePath: "/dev/null")))
        guard result.status == 0 else { throw CocoaError(.executableLoad) }
    }
}
