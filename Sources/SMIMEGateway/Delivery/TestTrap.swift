#if DEBUG
package import ByteStreams
import Foundation

/// A test hook that lets a worker die at its message, as a crash would. Release builds do not have it.
///
/// The variable SMIME_TEST_TRAP names the way: `ILL` (what Swift's own checks end with), `SEGV`, `ABRT`, `BUS`, `KILL`, `TERM`, or
/// `STACK` for a stack that overflows. With `WAIT` it writes the file
/// `waiting` and waits until another process ends it. With `SMIME_TEST_TRAP_AT=sent` it dies after sending, with `sending` just before.
package enum TestTrap {
    /// The same for one message among many: with SMIME_TEST_TRAP_MARK only for those in which that text stands.
    package static func spring(for source: any ByteSource) {
        if let mark = variable("SMIME_TEST_TRAP_MARK") {
            let head = (try? source.bytes(in: 0..<min(source.count, 64 << 10))) ?? []
            guard String(decoding: head, as: UTF8.self).contains(mark) else { return }
        }
        spring()
    }

    package static func spring(at place: String = "message") {
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
            // To the process, whose first thread hears it; this one may not.
            kill(getpid(), SIGTERM)
            sleep(10)
        default: break
        }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// A range that runs backwards.
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
