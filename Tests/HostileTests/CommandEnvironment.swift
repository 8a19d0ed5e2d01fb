import Foundation
import TestSupport

/// The environment of commands that get hostile input: a store, a home and a folder for temporary files in a
/// `TemporaryFolder`, which is removed with this object.
final class CommandEnvironment: Sendable {
    private let temporary: TemporaryFolder
    let program: String
    let environment: [String: String]

    init() throws {
        temporary = try TemporaryFolder()
        let folder = temporary.url
        try FileManager.default.createDirectory(
            at: folder.appending(path: "tmp"),
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        program = try Tool.smime().path
        var environment = ProcessInfo.processInfo.environment.filter { $0.key == "PATH" || $0.key == "LD_LIBRARY_PATH" }
        environment["SMIME_HOME"] = folder.appending(path: "home").path
        environment["TMPDIR"] = folder.appending(path: "tmp").path
        environment["HOME"] = folder.path
        environment["TZ"] = "UTC"
        environment["SWIFT_BACKTRACE"] = "enable=no"
        self.environment = environment
    }

    /// A copy of `home` with its contents.
    convenience init(copying home: CommandEnvironment) throws {
        try self.init()
        let result = try CommandRunner("cp").run(["-a", home.folder.path + "/.", folder.path])
        guard result.status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    var folder: URL { temporary.url }

    /// Imports people from `certs/` and trusts the test CA.
    func fill(_ names: String...) throws {
        let certs = Fixtures.certs.path
        for name in names {
            let file = "\(certs)/\(name)/\(name).p12"
            try expect(run(["import", file, "--password-env", "PASSWORD"], environment: ["PASSWORD": "test"]), 0)
        }
        try expect(run(["import", "--trust", "\(certs)/ca/root.pem"]), 0)
    }

    private func expect(_ result: CommandResult, _ status: Int32) throws {
        guard result.status != status else { return }
        throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: result.errorText])
    }

    func run(
        _ arguments: [String],
        input: [UInt8]? = nil,
        environment extra: [String: String] = [:],
        seconds: Int = 60
    ) throws -> CommandResult {
        var runner = CommandRunner(
            program,
            environment: environment.merging(extra) { $1 },
            folder: folder.appending(path: "tmp")
        )
        runner.timeLimit = .seconds(seconds)
        return try runner.run(arguments, input: input.map { .bytes($0) } ?? .nothing)
    }
}
