package import Foundation
package import LibCrypto
import SMIME
package import SMIMEGateway
import Synchronization

/// The process that handles messages for the service, one after the other, with the keys of the store.
///
/// The process runs the same program, started as `smime-worker SERVICE SOCKET SPOOLS WORD…`, where the words are
/// those of `ServerSettings.workerArguments`.
package struct ServerWorker: Sendable {
    /// The first word of a worker's command line.
    package static let program = "smime-worker"

    /// The process id of the service.
    package let service: pid_t
    /// The descriptor of the socket that is connected to the service.
    package let socket: Int32
    /// The descriptors of the spools: for each slot one for the message and one for its copies.
    package let spools: [Int32]
    /// The service's arguments, without the program's name, and what it adds to them for its workers.
    package let arguments: [String]

    package init(service: pid_t, socket: Int32, spools: [Int32], arguments: [String]) {
        self.service = service
        self.socket = socket
        self.spools = spools
        self.arguments = arguments
    }

    /// Parses a command line whose first word is `program`; nil for any other command line.
    package init?(_ words: [String]) {
        guard words.count >= 4, words[0] == Self.program, let service = pid_t(words[1]), let socket = Int32(words[2])
        else { return nil }
        let spools = words[3].split(separator: ",").map { Int32($0) }
        guard spools.allSatisfy({ $0 != nil }), spools.count.isMultiple(of: 2) else { return nil }
        self.init(
            service: service,
            socket: socket,
            spools: spools.compactMap(\.self),
            arguments: Array(words.dropFirst(4))
        )
    }

    /// The service's command line as bytes, but with `program` as the first word.
    package var commandLine: [[UInt8]] { ([Self.program] + arguments).map { Array($0.utf8) } }

    /// The worker's complete command line.
    package var words: [String] {
        [Self.program, "\(service)", "\(socket)", spools.map { "\($0)" }.joined(separator: ",")] + arguments
    }

    private static let started = Mutex<ServerWorker?>(nil)

    /// The worker in this process; nil if this process is not a worker.
    package static var current: ServerWorker? { started.withLock { $0 } }

    /// Makes this process a worker if `words`, the command line of the process, begins with `program`.
    ///
    /// - Throws: `TransportError` if the process was not started by the service, or if the service has ended.
    package static func begin(_ words: [String]) throws(TransportError) {
        guard words.first == program else { return }
        var status = stat()
        guard let worker = ServerWorker(words), worker.socket > STDERR_FILENO, fstat(worker.socket, &status) == 0,
            status.st_mode & S_IFMT == S_IFSOCK
        else { throw TransportError("\(program) is a part of 'smime serve', and only 'smime serve' can start it") }
        #if os(Linux)
        ProcessName.set(program)
        // A worker ends when the socket closes. While it handles a message, it does not read the socket, so the kernel also
        // sends SIGKILL when the service ends.
        guard ParentProcess.requestSignal(SIGKILL, atEndOf: worker.service) else {
            throw TransportError("the service has ended")
        }
        #endif
        // A terminal or a service manager may send these signals to all processes of the group, but the service decides when
        // its workers end.
        for ignored in [SIGINT, SIGTERM, SIGHUP] { signal(ignored, SIG_IGN) }
        for descriptor in worker.spools + [worker.socket] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        started.withLock { $0 = worker }
    }
}

/// A worker's part of the log entry for a message.
package struct WorkerLog: Equatable, Sendable {
    /// The fields before the status.
    package var fields: [LogField] = []
    /// The fields at the end of the line.
    package var details: [LogField] = []
    /// Sentences for the administrator.
    package var warnings: [String] = []
    /// How many look-ups the worker's cache answered since the last message, and how many went to the store.
    package var cacheHits = 0, cacheMisses = 0
    /// The change counter that the worker read last (`Store.latestChangeCount`).
    package var changeCount: Int64 = 0
    /// The time that libcrypto used since the last message.
    package var cryptoTime = CryptoTime()

    package init(
        fields: [LogField] = [],
        details: [LogField] = [],
        warnings: [String] = [],
        cacheHits: Int = 0,
        cacheMisses: Int = 0,
        changeCount: Int64 = 0,
        cryptoTime: CryptoTime = CryptoTime()
    ) {
        self.fields = fields
        self.details = details
        self.warnings = warnings
        self.cacheHits = cacheHits
        self.cacheMisses = cacheMisses
        self.changeCount = changeCount
        self.cryptoTime = cryptoTime
    }
}

/// The messages that this worker has handled and from which it learns certificates after their delivery. The oldest messages
/// are forgotten, because some messages are never delivered.
struct LearnableMessages {
    /// The number of newest messages that are always kept: more than a service can have in flight (`--max-messages`).
    private static let maximum = 1024

    private var messages: [UInt64: VerifiedMessage] = [:]
    private var order: [UInt64] = []

    mutating func add(_ number: UInt64, _ message: VerifiedMessage) {
        messages[number] = message
        order.append(number)
        guard order.count > 2 * Self.maximum else { return }
        for number in order.prefix(Self.maximum) { messages[number] = nil }
        order.removeFirst(Self.maximum)
    }

    /// Removes and returns the message; nil if there is none.
    mutating func take(_ number: UInt64) -> VerifiedMessage? { messages.removeValue(forKey: number) }
}
