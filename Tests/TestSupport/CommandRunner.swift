public import Foundation

/// Runs a program to its end and keeps its output.
///
/// The program gets its own session, so it has no terminal. When the time limit is reached, it is killed with all its
/// children. Pipes are read and written continuously, so no deadlock is possible.
public struct CommandRunner: Sendable {
    /// The source of a program's standard input.
    public enum Input: Sendable {
        case nothing
        case bytes([UInt8])
        case file(URL)
    }

    /// The destination of a program's standard output.
    public enum Output: Sendable {
        case captured
        case file(URL)
    }

    /// The program: a path, or a name that is looked up in PATH.
    public var program: String
    /// The complete environment.
    public var environment: [String: String]
    /// The working folder.
    public var folder: URL?
    /// The time after which the program is killed.
    public var timeLimit: Duration = .seconds(600)
    /// Whether to run the program under GNU time and to set `CommandResult.peakMemory`.
    ///
    /// The value that `wait4` reports would include the peak of this process, which spawns the program.
    public var measuresMemory = false

    public init(
        _ program: String,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        folder: URL? = nil
    ) {
        self.program = program
        self.environment = environment
        self.folder = folder
    }

    /// Runs the program with `arguments`. Throws only if the program cannot be started or its memory use cannot be read.
    public func run(
        _ arguments: [String] = [],
        input: Input = .nothing,
        output: Output = .captured
    ) throws -> CommandResult {
        guard measuresMemory else { return try spawn([program] + arguments, input: input, output: output) }
        let report = FileManager.default.temporaryDirectory.appending(path: "smime-time-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: report) }
        var result = try spawn(
            ["time", "-q", "-f", "%M", "-o", report.path, program] + arguments,
            input: input,
            output: output
        )
        let kibibytes = try String(contentsOf: report, encoding: .utf8).split(separator: "\n").last.flatMap { Int($0) }
        result.peakMemory = kibibytes.map { $0 * 1024 }
        return result
    }

    private func spawn(_ words: [String], input: Input, output: Output) throws -> CommandResult {
        _ = Self.ignoresBrokenPipes
        var channels = try Channels(input: input, output: output)
        defer { channels.closeAll() }
        let process = try channels.spawn(words, environment: environment, folder: folder)
        let deadline = ContinuousClock.now + timeLimit
        var ending: ChildProcess.Ending?
        while ending == nil {
            channels.transfer(milliseconds: 50)
            ending = process.endingIfOver()
            if ending == nil, ContinuousClock.now > deadline {
                process.kill()
                ending = process.waitForEnding()
                ending?.isTimeout = true
            }
        }
        channels.drain()
        guard let ending else { throw CocoaError(.featureUnsupported) }
        return CommandResult(ending, standardOutput: channels.standardOutput, standardError: channels.standardError)
    }

    /// A program may end before it has read its input; SIGPIPE must not end this process.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

/// How a program ended, and what it wrote.
public struct CommandResult: Sendable {
    /// The exit status, or 128 plus the signal.
    public let status: Int32
    /// The signal that ended the program, if any.
    public let signal: Int32?
    /// Whether the program was killed at the time limit.
    public let isTimeout: Bool
    /// The user and system time, including children.
    public let processorTime: Duration
    /// The maximum resident set in bytes, if it was measured.
    public internal(set) var peakMemory: Int?
    public let standardOutput: [UInt8]
    public let standardError: [UInt8]

    /// `standardOutput` as text.
    public var text: String { String(decoding: standardOutput, as: UTF8.self) }
    /// `standardError` as text.
    public var errorText: String { String(decoding: standardError, as: UTF8.self) }

    init(_ ending: ChildProcess.Ending, standardOutput: [UInt8], standardError: [UInt8]) {
        status = ending.status
        signal = ending.signal
        isTimeout = ending.isTimeout
        processorTime = ending.processorTime
        self.standardOutput = standardOutput
        self.standardError = standardError
    }
}
