import Foundation

/// The memory of a command at the moment of its end, as in a core file.
///
/// strace stops the command at the system call that ends it. Only root can then read its memory, because the command
/// has cleared its dumpable flag.
public struct MemoryImage {
    /// The exit status that the command was about to end with.
    public let status: Int
    /// The limit of the command's core file, as two numbers from /proc.
    public let coreLimit: String
    /// The user id of the owner of the command's files in /proc: 0 if the command cannot be traced or dumped
    /// (`PR_SET_DUMPABLE`).
    public let owner: Int
    /// The command's standard error.
    public let errorText: String
    /// All ranges of writable memory, without pages of zeros.
    fileprivate let stretches: [Stretch]

    fileprivate struct Stretch {
        let name: String
        let address: Int
        let bytes: [UInt8]
    }

    /// Why images cannot be taken on this machine; nil if they can.
    public static func obstacle() throws -> String? {
        guard geteuid() == 0 else { return "only root can read the memory of a command that cannot be traced" }
        let probe = CommandRunner("strace")
        guard (try? probe.run(["-qq", "-o", "/dev/null", "-e", "inject=exit_group:delay_enter=1", "true"]).status) == 0
        else { return "strace is missing, or may not trace" }
        return nil
    }

    /// Runs a command until it is about to exit, takes the image, and kills the command.
    ///
    /// - Parameter prefix: a program, with its arguments, that runs the command.
    public init(
        of runner: CommandRunner,
        _ arguments: [String],
        input: CommandRunner.Input = .nothing,
        under prefix: [String] = []
    ) throws {
        let trace = FileManager.default.temporaryDirectory.appending(path: "smime-trace-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: trace) }
        // The delay (600 s) is longer than taking the image can take.
        let words =
            ["strace", "-f", "-qq", "-o", trace.path, "-e", "trace=exit_group", "-e", "signal=none"]
            + ["-e", "inject=exit_group:delay_enter=600000000"] + prefix + [runner.program] + arguments
        var channels = try Channels(input: input, output: .captured)
        defer { channels.closeAll() }
        let process = try channels.spawn(words, environment: runner.environment, folder: runner.folder)
        var isOver = false
        defer {
            process.kill()
            if !isOver { _ = process.waitForEnding() }
        }
        let deadline = ContinuousClock.now + runner.timeLimit
        var end: (thread: Int, status: Int)?
        while end == nil, !isOver, ContinuousClock.now < deadline {
            channels.transfer(milliseconds: 20)
            end = Self.end(in: trace)
            isOver = process.endingIfOver() != nil
        }
        channels.drain()
        errorText = String(decoding: channels.standardError, as: UTF8.self)
        guard let end else {
            throw CocoaError(.executableNotLoadable, userInfo: [NSLocalizedDescriptionKey: "no end: \(errorText)"])
        }
        status = end.status
        // Use the thread that ends the process: the first thread may have ended already.
        let folder = "/proc/\(end.thread)"
        let limits = try String(contentsOfFile: "\(folder)/limits", encoding: .utf8)
        coreLimit =
            limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }?
            .split(separator: " ").dropFirst(4).prefix(2).joined(separator: " ") ?? ""
        var file = stat()
        guard stat("\(folder)/mem", &file) == 0 else { throw CocoaError(.fileReadNoSuchFile) }
        owner = Int(file.st_uid)
        stretches = try Self.stretches(folder)
    }

    /// The thread that is about to end the process, and the status; nil while there is none.
    private static func end(in trace: URL) -> (thread: Int, status: Int)? {
        guard let text = try? String(contentsOf: trace, encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.contains(" exit_group(") }),
            let thread = line.split(separator: " ").first.flatMap({ Int($0) }),
            let status = line.split(separator: "(").last?.prefix(while: \.isNumber), let status = Int(status)
        else { return nil }
        return (thread, status)
    }

    /// The name for a thread's stack, and its default size.
    public static let stack = "a thread's stack"
    private static let stackSize = 8 << 20

    private static func stretches(_ folder: String) throws -> [Stretch] {
        let memory = open("\(folder)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EACCES) }
        defer { close(memory) }
        var found: [Stretch] = []
        for line in try String(contentsOfFile: "\(folder)/maps", encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard fields[1].hasPrefix("rw"), ends.count == 2 else { continue }
            let anonymous = ends[1] - ends[0] == stackSize ? stack : "anonymous"
            let name = fields.count > 5 ? fields[5...].joined(separator: " ") : anonymous
            found += read(memory, ends[0]..<ends[1]).map { Stretch(name: name, address: $0, bytes: $1) }
        }
        return found
    }

    /// The memory in `range`, read by pages; adjacent pages that are not zero are joined.
    private static func read(_ memory: Int32, _ range: Range<Int>) -> [(Int, [UInt8])] {
        let (page, window) = (4096, 1 << 20)
        let zeros = [UInt8](repeating: 0, count: page)
        var bytes = [UInt8](repeating: 0, count: window)
        var found: [(Int, [UInt8])] = []
        var isOpen = false
        for start in stride(from: range.lowerBound, to: range.upperBound, by: window) {
            let count = pread(memory, &bytes, min(window, range.upperBound - start), off_t(start))
            for offset in stride(from: 0, to: max(0, count), by: page) {
                let isZero = bytes.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { memcmp($0 + offset, zeros, page) == 0 } ?? true
                }
                if !isZero, isOpen { found[found.count - 1].1 += bytes[offset..<offset + page] }
                if !isZero, !isOpen { found.append((start + offset, Array(bytes[offset..<offset + page]))) }
                isOpen = !isZero
            }
        }
        return found
    }

    /// Describes where in memory there are parts of `secrets`.
    public func traces(of secrets: Secrets) -> [String] {
        stretches.flatMap { stretch in
            secrets.found(in: stretch.bytes).map { name, offset in
                "\(name) at \(String(stretch.address + offset, radix: 16)) in \(stretch.name)"
            }
        }
    }

    /// The number of bytes examined.
    public var count: Int { stretches.map(\.bytes.count).reduce(0, +) }
}
