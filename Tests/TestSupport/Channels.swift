import Foundation

/// The parent's ends of the three standard streams of a child process.
struct Channels {
    private(set) var standardOutput: [UInt8] = []
    private(set) var standardError: [UInt8] = []

    private var rest: ArraySlice<UInt8>
    private var inputPath = "/dev/null"
    private var outputPath: String?
    private var input = Pipe.none
    private var output = Pipe.none
    private var error: Pipe

    init(input source: CommandRunner.Input, output target: CommandRunner.Output) throws {
        rest = []
        error = try Pipe()
        switch source {
        case .nothing: break
        case .file(let url): inputPath = url.path
        case .bytes(let bytes):
            rest = bytes[...]
            input = try Pipe()
            neverBlock(input.writing)
        }
        neverBlock(error.reading)
        switch target {
        case .captured:
            output = try Pipe()
            neverBlock(output.reading)
        case .file(let url): outputPath = url.path
        }
    }

    /// Starts a program with these streams, and closes the child's ends in this process.
    mutating func spawn(_ words: [String], environment: [String: String], folder: URL?) throws -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if input.reading >= 0 {
            posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
        }
        if let outputPath {
            posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        } else {
            posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        }
        posix_spawn_file_actions_adddup2(&actions, error.writing, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        // Test threads block signals; a shell that inherits this never notices the end of its children.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | Self.newSession
        )

        var identifier = pid_t()
        // The C library that Swift imports cannot change the folder in the spawn itself.
        let words = folder.map { ["sh", "-c", #"cd "$0" && exec "$@""#, $0.path] + words } ?? words
        let program = words.first ?? ""
        spawning.lock()
        defer { spawning.unlock() }
        let code = withCStrings(words) { words in
            withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawnp(&identifier, program, &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        input.closeReading()
        output.closeWriting()
        error.closeWriting()
        return ChildProcess(identifier: identifier)
    }

    /// Waits up to `milliseconds` for a stream to become ready, and transfers the available bytes.
    mutating func transfer(milliseconds: Int32) {
        var entries: [pollfd] = []
        if input.writing >= 0 { entries.append(pollfd(fd: input.writing, events: Int16(POLLOUT), revents: 0)) }
        for pipe in [output, error] where pipe.reading >= 0 {
            entries.append(pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0))
        }
        // When every stream is closed, this is a short sleep until the process ends.
        guard poll(&entries, nfds_t(entries.count), entries.isEmpty ? min(milliseconds, 2) : milliseconds) > 0 else {
            return
        }
        feed()
        output.read(into: &standardOutput)
        error.read(into: &standardError)
    }

    /// Reads what the ended process left in its pipes, without waiting for children that keep them open.
    mutating func drain() {
        output.read(into: &standardOutput)
        error.read(into: &standardError)
    }

    mutating func closeAll() {
        for end in [\Channels.input, \.output, \.error] {
            self[keyPath: end].closeReading()
            self[keyPath: end].closeWriting()
        }
    }

    private mutating func feed() {
        while input.writing >= 0 {
            guard !rest.isEmpty else { return input.closeWriting() }
            let written = rest.withUnsafeBytes { write(input.writing, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno != EAGAIN { input.closeWriting() }
                return
            }
            rest = rest.dropFirst(written)
        }
    }

    #if os(Linux)
    private static let newSession = Int16(0x80)  // POSIX_SPAWN_SETSID
    #else
    private static let newSession = Int16(POSIX_SPAWN_SETSID)
    #endif
}

/// Held while a new pipe is not close-on-exec yet, and while a program is spawned, so that the program does not inherit the
/// pipe.
private let spawning = NSLock()

private func neverBlock(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
}

private let systemRead: @Sendable (Int32, UnsafeMutableRawPointer?, Int) -> Int = read

/// A pipe. Neither end is inherited by programs that other threads spawn.
private struct Pipe {
    static let none = Pipe(reading: -1, writing: -1)

    var reading: Int32
    var writing: Int32

    private init(reading: Int32, writing: Int32) {
        self.reading = reading
        self.writing = writing
    }

    init() throws {
        var ends: [Int32] = [-1, -1]
        spawning.lock()
        defer { spawning.unlock() }
        guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.init(reading: ends[0], writing: ends[1])
    }

    mutating func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    mutating func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    mutating func read(into bytes: inout [UInt8]) {
        var window = [UInt8](repeating: 0, count: 1 << 16)
        while reading >= 0 {
            let count = systemRead(reading, &window, window.count)
            if count == 0 { return closeReading() }
            if count < 0 { return errno == EAGAIN ? () : closeReading() }
            bytes += window[..<count]
        }
    }
}

/// Lends `strings` as a null-terminated array for argv or envp.
private func withCStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
