import Foundation
import LibCrypto

/// Runs the program that prints the key of a store.
struct KeyProgram {
    /// How long it may take, in seconds.
    private static let timeout = 10.0
    /// The most bytes that are read: a key is far shorter.
    private static let maximumCount = 4096

    let path: String

    /// The program's standard output. Its standard error goes to the user.
    ///
    /// - Throws: `.cannotOpen` where it cannot be run, fails, or takes too long.
    func output() throws(KeystoreError) -> [UInt8] {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: path)
        process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        do { try process.run() } catch { throw failure("cannot be run: \(error.localizedDescription)") }
        // SIGTERM is blocked in a program that a thread of Dispatch starts. A queue of its own: the threads of the global one may all wait.
        let program = process.processIdentifier
        DispatchQueue(label: "deadline").asyncAfter(deadline: .now() + Self.timeout) {
            if process.isRunning { kill(program, SIGKILL) }
        }
        var bytes: [UInt8] = []
        while bytes.count <= Self.maximumCount, let part = try? pipe.fileHandleForReading.read(upToCount: 1024),
            !part.isEmpty
        {
            bytes += part
        }
        if bytes.count > Self.maximumCount { kill(program, SIGKILL) }
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0, bytes.count <= Self.maximumCount
        else {
            bytes.wipe()
            throw failure("printed no key: it ended with \(process.terminationStatus)")
        }
        return bytes
    }

    private func failure(_ why: String) -> KeystoreError {
        .cannotOpen(path: path, reason: "the program of the key \(why)")
    }
}
