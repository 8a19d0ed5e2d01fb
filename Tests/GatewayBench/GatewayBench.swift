import ByteStreams
import Foundation
import SMIME
import SMIMEStore

/// Measures the cost of one message in a long-running gateway process, for `scripts/bench gateway`; not part of the product.
///
/// Arguments: a folder with the keys and certificates that the script makes, the number of messages, and optionally the name
/// of a single kind of work. For each kind of work it prints the name, and the CPU time of the whole process per message in
/// microseconds.
@main
struct GatewayBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard (2...3).contains(arguments.count), let folder = arguments.first, let count = Int(arguments[1]), count > 0
        else {
            print("usage: GatewayBench FOLDER COUNT [WORK]")
            exit(64)
        }
        let only = arguments.count == 3 ? arguments[2] : nil
        let site = try await BenchSite(folder: folder)
        let result: Result<Void, any Error>
        do {
            for work in BenchWork.allCases where only == nil || only == work.rawValue {
                let time = try await measure(count, work, at: site)
                print("\(work.rawValue) \(Int(time.rounded()))")
            }
            result = .success(())
        } catch { result = .failure(error) }
        try FileManager.default.removeItem(atPath: site.home)
        try result.get()
    }

    /// The CPU time of `work` per message in microseconds, after warming up.
    private static func measure(_ count: Int, _ work: BenchWork, at site: BenchSite) async throws -> Double {
        // The messages differ, so that caching one does not save work on another.
        let messages = try await site.messages(for: work, 200)
        for message in messages { try await site.handle(message, work) }
        let start = cpuTime()
        for index in 0..<count { try await site.handle(messages[index % messages.count], work) }
        return (cpuTime() - start) / Double(count)
    }

    private static func cpuTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

/// What is done with each message.
enum BenchWork: String, CaseIterable {
    case signRSA = "sign-rsa"
    case signEC = "sign-p256"
    case signAndEncrypt = "sign-encrypt"
    case verify = "verify"
    /// Like `verify`, with a different sender for each message.
    case verifyMany = "verify-many"
}
