import Foundation
import SMIME

/// Opens an archive like a server: many mails in a task group, with keys in memory.
///
/// Prints the time, the memory after the first tenth and at the end, and the longest delay of a task that needs a
/// cooperative thread. For comparison it also prints the delay of an ordinary thread, which is due to the machine. Ends
/// with status 1 if memory or delay are beyond their bounds.
struct ArchiveBench {
    /// The number of mails that are open at once, as in a server that reads no faster than it processes.
    private let width = 64
    /// The bound of the memory, in MB, that the mails after the first tenth may add.
    private let memoryBound = 5.0
    /// The bound of a task's longest delay beyond that of an ordinary thread.
    private let delayBound = Duration.milliseconds(20)

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
        let clock = ContinuousClock()
        let start = clock.now
        let (memory, task, thread) = try await Ticker.latest { try await open(count) }
        let seconds = (clock.now - start) / .seconds(1)
        print(
            "\(count) mails in \(Self.decimal(seconds)) s, \(width) at a time; memory \(Self.decimal(memory.early)) MB at the first"
                + " tenth, \(Self.decimal(memory.late)) MB at the end; longest wait for a cooperative thread"
                + " \(Self.decimal(task / .milliseconds(1))) ms, for a plain thread \(Self.decimal(thread / .milliseconds(1))) ms"
        )
        let failures = [
            memory.late - memory.early > memoryBound ? "memory grew by more than \(Self.decimal(memoryBound)) MB" : nil,
            task - thread > delayBound ? "a cooperative thread was blocked for more than \(delayBound)" : nil,
        ].compactMap(\.self)
        guard failures.isEmpty else {
            failures.forEach { print($0) }
            exit(1)
        }
    }

    /// Opens `mail` `count` times and returns the memory of the process in MB.
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
        _ = try await opened.bytes()
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
