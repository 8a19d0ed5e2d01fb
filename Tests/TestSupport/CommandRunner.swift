public import Foundation

/// Runs a program to its end and keeps what it said.
///
/// The program gets a session of its own, so it has no terminal to ask, and is killed with all its children when the
/// time limit is reached. Pipes of any length are read and written as they come, so nothing can wait for each other.
public struct CommandRunner: Sendable {
    /// Where a program's standard input comes from.
    public enum Input: Sendable {
        case nothing
        case bytes([UInt8])
        case file(URL)
    }

    /// Where its standard output goes.
    public enum Output: Sendable {
        case captured
        case file(URL)
    }

    /// The program: a path, or a name to be looked up in PATH.
    public var program: String
    /// Its whole environment.
    public var environment: [String: String]
    /// The folder it runs in.
    public var folder: URL?
    /// After this long it is killed.
    public var timeLimit: Duration = .seconds(600)
    /// Runs it under GNU time, so that `CommandResult.peakMemory` is known.
    ///
    /// What `wait4` reports for a spawned process starts at the peak of the one that spawned it.
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

    /// Runs the program with `arguments`; throws only where it cannot be started.
    public func run(
        _ arguments: [String] = [],
        input: Input = .nothing,
        output: Output = .captured
    ) throws -> CommandResult {
        guard measuresMemory else { return try spawn([program] + arguments, input, output) }
        let report = FileManager.default.temporaryDirectory.appending(path: "smime-time-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: report) }
        var result = try spawn(["time", "-q", "-f", "%M", "-o", report.path, program] + arguments, input, output)
        let kibibytes = try String(contentsOf: report, encoding: .utf8).split(separator: "\n").last.flatMap { Int($0) }
        result.peakMemory = kibibytes.map { $0 * 1024 }
        return result
    }

    private func spawn(_ words: [String], _ input: Input, _ output: Output) throws -> CommandResult {
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

    /// A program may end before it has read its input; that must not end us.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

/// How a program ended, and what it wrote.
public struct CommandResult: Sendable {
    /// The exit status, or 128 and the signal.
    public let status: Int32
    /// The signal that ended it, if one did.
    public let signal: Int32?
    /// Whether it was killed because its time was over.
    public let isTimeout: Bool
    /// User and system time, its children's included.
    public let processorTime: Duration
    /// The largest resident set in bytes, where it was measured.
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
