import ByteStreams
import Foundation
import LibCrypto
import SMIMEGateway
import SMIMEStore

/// The process that keeps a key in memory: this program, started as `smime-key-agent FOLDER NAME SECONDS`, with the key on
/// standard input.
enum KeyAgentProcess {
    /// The first word of the process's command line.
    private static let program = "smime-key-agent"
    /// The byte that the process writes to standard output when it begins to listen.
    private static let ready: UInt8 = 0x2B

    /// Starts an agent for `key`, and waits until the agent listens.
    ///
    /// - Throws: `Failure` if the agent cannot be started.
    static func start(_ key: SecretBytes, named name: String, in folder: RuntimeFolder, for time: TimeInterval) throws {
        var (input, output) = ([Int32](repeating: -1, count: 2), [Int32](repeating: -1, count: 2))
        guard pipe(&input) == 0, pipe(&output) == 0 else {
            throw Failure(.tryAgain, "cannot make a pipe: \(String(cString: strerror(errno)))")
        }
        defer { for end in [input[0], output[0]] { close(end) } }
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var child = ChildProgram(
            path: executable,
            words: [program, folder.path, name, "\(Int(time))"],
            standardInput: input[0],
            standardOutput: output[1]
        )
        child.standardError = -1
        do throws(TransportError) { _ = try child.start() } catch {
            for end in [input[1], output[1]] { close(end) }
            throw Failure(.tryAgain, error.reason)
        }
        close(output[1])
        key.withBytes { _ = SystemCall.writeBytes(input[1], $0) }
        close(input[1])
        var byte: UInt8 = 0
        guard read(output[0], &byte, 1) == 1, byte == ready else {
            throw Failure(
                .unavailable,
                "\(folder.path): the key agent cannot start, so the key is not kept in memory",
                hints: ["this needs a page of locked memory (ulimit -l) and a socket in that directory"]
            )
        }
    }

    /// If `words`, the command line of this process, begin with `program`, turns this process into an agent, which exits when
    /// the key is deleted. Otherwise does nothing.
    static func begin(_ words: [String]) {
        guard words.first == program else { return }
        guard words.count == 4, let seconds = Int(words[3]), seconds > 0,
            let key = LockedBytes(count: SealingKey.count), key.read(from: STDIN_FILENO)
        else { exit(ExitStatus.usage.rawValue) }
        closeInherited()
        #if os(Linux)
        ProcessName.set(program)
        #endif
        // The terminal of the caller may be closed, and its working directory removed.
        setsid()
        guard chdir("/") == 0 else { exit(ExitStatus.software.rawValue) }
        let kept = KeptKey(key, of: geteuid(), until: .now + .seconds(seconds))
        do throws(KeystoreError) {
            let agent = try KeyAgent(kept, named: words[2], in: RuntimeFolder(path: words[1]))
            var byte = ready
            write(STDOUT_FILENO, &byte, 1)
            // Closes both streams. Otherwise a program that reads the output of `smime unlock` to its end would wait for this
            // process.
            for stream in [STDIN_FILENO, STDOUT_FILENO] { close(stream) }
            for stream in [STDIN_FILENO, STDOUT_FILENO] where open("/dev/null", O_RDWR) != stream {
                exit(ExitStatus.software.rawValue)
            }
            agent.run()
        } catch { exit(ExitStatus.cannotCreate.rawValue) }
        exit(ExitStatus.success.rawValue)
    }

    /// Closes the files that the caller of `smime unlock` had open. A lock file, for example, would otherwise stay locked
    /// while the agent runs.
    private static func closeInherited() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? [] {
            if let descriptor = Int32(name), descriptor > STDERR_FILENO { close(descriptor) }
        }
    }

    /// The path of this program, even if its file has been replaced in the meantime.
    private static var executable: String {
        #if os(Linux)
        "/proc/self/exe"
        #else
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }
}

extension LockedBytes {
    /// Fills the bytes from a descriptor; returns false if there are too few bytes.
    fileprivate func read(from descriptor: Int32) -> Bool {
        var total = 0
        fill { buffer in
            while total < buffer.count {
                var rest = buffer.piece(total..<buffer.count)
                let count = SystemCall.readBytes(descriptor, into: &rest)
                guard count > 0 else { return }
                total += count
            }
        }
        return total == count
    }
}

/// The agents of `smime unlock`, which commands ask before they ask the person at the terminal.
enum KeyAgentUse {
    /// The agents of this user.
    static var client: KeyAgentClient {
        let environment = ProcessEnvironment[["XDG_RUNTIME_DIR"]]
        return KeyAgentClient(
            RuntimeFolder(environment: environment),
            others: RuntimeFolder.candidates(environment: environment)
        )
    }

    /// Makes the agent `name` delete its key, because the key or its passphrase has changed.
    static func forget(_ name: String?) {
        guard let name, client.forget(name) == false else { return }
        warn(name)
    }

    /// Runs `change`, which replaces the store at `location`, and makes the store's agent delete its key. If it is unknown
    /// which agent has the store's key, all agents delete their keys.
    static func forgetting<Value>(_ location: StoreLocation, _ change: () async throws -> Value) async throws -> Value {
        // `change` does not replace a store on a server.
        guard location.server == nil else { return try await change() }
        let name: Result<String?, any Error>
        do {
            let store = try await Store.open(location, mode: .readOnly) { _ in nil }
            name = .success(try await store.nameForAgent())
            try? await store.close()
        } catch { name = .failure(error) }
        let value = try await change()
        switch name {
        case .success(let name): forget(name)
        case .failure: if !client.forgetAll().isSure { warn("key-*") }
        }
        return value
    }

    private static func warn(_ name: String) {
        Console.warning("\(client.folder.path)/\(name): an agent may still keep the former key; end it: smime lock")
    }
}
