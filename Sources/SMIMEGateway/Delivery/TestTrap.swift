#if DEBUG
package import ByteStreams
import Foundation

/// A test hook that makes a worker crash while it handles its message. Release builds do not contain it.
///
/// The variable SMIME_TEST_TRAP selects the crash: `ILL` (as after a failed check of Swift), `SEGV`, `ABRT`, `BUS`, `KILL`,
/// `TERM`, or `STACK` for a stack overflow. With `WAIT` the worker writes the file `waiting` and waits until another
/// process kills it. With `SMIME_TEST_TRAP_AT=sent` it crashes after sending, with `sending` just before.
package enum TestTrap {
    /// Crashes at the message in `source`. With SMIME_TEST_TRAP_MARK, crashes only if the message contains that text.
    package static func crashIfRequested(for source: any ByteSource) {
        if let mark = variable("SMIME_TEST_TRAP_MARK") {
            let head = (try? source.bytes(in: 0..<min(source.count, 64 << 10))) ?? []
            guard String(decoding: head, as: UTF8.self).contains(mark) else { return }
        }
        crashIfRequested()
    }

    package static func crashIfRequested(at place: String = "message") {
        guard let way = variable("SMIME_TEST_TRAP"), !way.isEmpty,
            (variable("SMIME_TEST_TRAP_AT") ?? "message") == place
        else { return }
        switch way {
        case "ILL": trap(Int(getpid()))
        case "STACK": _ = overflow(0)
        case "SEGV": raise(SIGSEGV)
        case "ABRT": abort()
        case "BUS": raise(SIGBUS)
        case "WAIT":
            close(open("waiting", O_WRONLY | O_CREAT, 0o600))
            while true { pause() }
        case "KILL": raise(SIGKILL)
        case "TERM":
            // The signal is sent to the whole process and handled by its first thread, which may be another thread.
            kill(getpid(), SIGTERM)
            sleep(10)
        default: break
        }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Traps by creating a range whose end is before its start.
    private static func trap(_ number: Int) {
        let bytes = [UInt8](repeating: 0, count: 4)
        _ = bytes[number...(number - number)].count
    }

    private static func overflow(_ depth: Int) -> Int {
        let local = [depth, depth + 1]
        guard depth >= 0 else { return 0 }
        return overflow(depth + 1) + local[depth & 1]
    }
}
#endif
