import Foundation

/// A PostgreSQL server in a temporary folder, reached through a unix socket there. The server ends when this process ends, even
/// if the process is killed.
///
/// It uses Debian's programs. PostgreSQL refuses to run as root, so for root the server runs as Debian's user `postgres`.
public final class PostgreSQLServer: Sendable {
    /// The folder of the programs; nil if PostgreSQL is not installed.
    public static let programs: String? = {
        let versions = "/usr/lib/postgresql"
        let found = ((try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? [])
            .sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }.map { "\(versions)/\($0)/bin" }
        return found.last { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    /// A server for all tests of the process; each test uses its own database.
    public static let shared = Result { try PostgreSQLServer() }

    /// The folder of the data and the socket.
    public let folder: String
    /// The port on loopback, which is also part of the socket's name; nil if the server listens only on the standard socket.
    private let port: Int?
    /// The server ends when the other end of this pipe is closed.
    private let life: Pipe
    private let programs: String

    /// - Parameters:
    ///   - settings: lines for `postgresql.conf`.
    ///   - port: a port on loopback to listen on in addition.
    public init(settings: [String] = [], port: Int? = nil) throws {
        self.port = port
        let listening = port.map { ["listen_addresses = '127.0.0.1'", "port = \($0)"] } ?? []
        guard let programs = Self.programs else { throw CocoaError(.featureUnsupported) }
        self.programs = programs
        folder = FileManager.default.temporaryDirectory.appending(path: "smime-pg-\(UUID().uuidString.prefix(8))").path
        life = Pipe()
        // Other programs that a test starts must not keep this end of the pipe open.
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

    /// The data need not survive a power failure.
    private static let standard = [
        "fsync = off", "synchronous_commit = off", "full_page_writes = off", "listen_addresses = ''",
        "max_connections = 300",
    ]

    /// Makes the folder, starts the server and prints `ready`. When the script's input ends, stops the server and removes the
    /// folder.
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

    /// The URL of `database` for the user `role`.
    public func url(_ database: String, role: String = "smime") -> String {
        "postgresql://\(role)@/\(database)?" + (port.map { "host=127.0.0.1&port=\($0)" } ?? "host=\(folder)")
    }

    /// Creates an empty database.
    ///
    /// - Returns: its name.
    public func makeDatabase() throws -> String {
        let name = "db\(UUID().uuidString.prefix(8).lowercased())"
        _ = try run("CREATE DATABASE \(name)", in: "postgres")
        return name
    }

    /// Removes a database, even if it is in use.
    public func dropDatabase(_ name: String) { _ = try? run("DROP DATABASE \(name) WITH (FORCE)", in: "postgres") }

    /// Runs SQL as the administrator, without checks of foreign keys.
    ///
    /// - Returns: the values, one row per line, separated by `|`.
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

    /// Turns the server into a standby without a primary; it is read-only until `SELECT pg_promote()`.
    public func becomeStandby() throws {
        let path = "\(folder)/data/standby.signal"
        try Data().write(to: URL(filePath: path))
        if geteuid() == 0, let owner = getpwnam("postgres") { chown(path, owner.pointee.pw_uid, owner.pointee.pw_gid) }
        try restart()
    }

    /// Restarts the server immediately; transactions in progress are aborted.
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
