import Foundation
import SMIME

/// Opens an archive as a server does: many mails in a task group, with keys in memory.
///
/// Prints what it took, the memory at the first tenth and at the end, and the longest time for which a task that only ticks got
/// no cooperative thread: while nothing else ran, which is the machine's own share, and while the mails were opened.
struct ArchiveBench {
    /// How many mails are open at a time, as in a server that reads no faster than it works.
    private let width = 64

    let keys: Keyring
    let mail: [UInt8]

    init(certs: String) throws {
        let alice = try Identity(
            pkcs12: Data(contentsOf: URL(filePath: certs + "/alice/alice.p12")),
            passphrase: "test"
        )
        keys = Keyring(alice, trusting: try Certificate(contentsOf: certs + "/ca/root.pem"))
        mail = try Message(MailBench.mail.utf8).signed(by: alice).encrypted(to: alice.certificate).bytes()
    }

    func run(_ count: Int) async throws {
        let idle = try await Ticker.longestGap { try await Task.sleep(for: .seconds(2)) }.gap
        let clock = ContinuousClock()
        let start = clock.now
        let (memory, busy) = try await Ticker.longestGap { try await open(count) }
        let seconds = (clock.now - start) / .seconds(1)
        print(
            "\(count) mails in \(Self.decimal(seconds)) s, \(width) at a time; memory \(Self.decimal(memory.early)) MB at the first"
                + " tenth, \(Self.decimal(memory.late)) MB at the end; longest wait for a cooperative thread"
                + " \(Self.decimal(idle / .milliseconds(1))) ms idle, \(Self.decimal(busy / .milliseconds(1))) ms opening"
        )
    }

    /// Opens `mail` so many times, and says how much memory the process had in MB.
    private func open(_ count: Int) async throws -> (early: Double, late: Double) {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var early = 0.0
            for index in 0..<count {
                if index >= width { try await group.next() }
                if index == count / 10 { early = try Self.memory() }
                group.addTask { try await openOne() }
            }
            try await group.waitForAll()
            return (early, try Self.memory())
        }
    }

    private func openOne() async throws {
        let opened = try await Message(mail).opened(with: keys)
        guard opened.report.status == .valid else { throw CocoaError(.featureUnsupported) }
        _ = try opened.bytes()
    }

    private static func memory() throws -> Double {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        guard fields.count > 1, let pages = Double(fields[1]) else { throw CocoaError(.fileReadCorruptFile) }
        return pages * Double(getpagesize()) / 1e6
    }

    private static func decimal(_ number: Double) -> String {
        number.formatted(.number.precision(.fractionLength(1)).grouping(.never))
    }
}

/// Tasks that tick on the cooperative pool, as many as it has threads, so that one thread that is blocked makes one of them wait.
private enum Ticker {
    private static let period = Duration.milliseconds(1)

    /// Runs `body`, and says for how long at most a task that was due got no thread meanwhile.
    static func longestGap<Value: Sendable>(
        during body: @Sendable () async throws -> Value
    ) async throws -> (value: Value, gap: Duration) {
        let tickers = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            Task.detached {
                let clock = ContinuousClock()
                var longest = Duration.zero
                while !Task.isCancelled {
                    let start = clock.now
                    try? await Task.sleep(for: period)
                    longest = max(longest, clock.now - start - period)
                }
                return longest
            }
        }
        defer { for ticker in tickers { ticker.cancel() } }
        let value = try await body()
        var longest = Duration.zero
        for ticker in tickers {
            ticker.cancel()
            longest = max(longest, await ticker.value)
        }
        return (value, longest)
    }
}
