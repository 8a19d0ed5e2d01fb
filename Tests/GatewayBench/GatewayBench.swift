import ByteStreams
import Foundation
import SMIME
import SMIMEStore

/// Measures what the gateway costs for one message in a process that stays, for `scripts/bench gateway`; no part of the product.
///
/// Arguments: a folder with the keys and certificates that the script makes, and how many messages. Prints a line for each work:
/// its name, and the microseconds of CPU time that the whole process takes for a message. A third argument names the only work.
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

    /// Microseconds of CPU time that `work` takes for one message, once it is warm.
    private static func measure(_ count: Int, _ work: BenchWork, at site: BenchSite) async throws -> Double {
        // Messages that differ: what is remembered of one does not spare the work of another.
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

/// What is done to each message.
enum BenchWork: String, CaseIterable {
    case signRSA = "sign-rsa"
    case signEC = "sign-p256"
    case signAndEncrypt = "sign-encrypt"
    case verify = "verify"
    /// As `verify`, from as many people as there are messages.
    case verifyMany = "verify-many"
}
