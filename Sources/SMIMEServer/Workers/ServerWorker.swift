package import Foundation
import LibCrypto
package import SMIMEGateway
import Synchronization

/// The process that handles messages for the service, one after the other, with the keys of the store.
///
/// It is the same program, started as `smime-worker SERVICE SOCKET SPOOLS WORD…`, where the words are the service's own arguments.
package struct ServerWorker: Sendable {
    /// The first word of a worker's command line.
    package static let program = "smime-worker"

    /// The process of the service.
    package let service: pid_t
    /// The descriptor of the socket to the service.
    package let socket: Int32
    /// The descriptors of the spools: for each slot one of the message and one of its forms.
    package let spools: [Int32]
    /// The service's arguments, without the program's name.
    package let arguments: [String]

    package init(service: pid_t, socket: Int32, spools: [Int32], arguments: [String]) {
        self.service = service
        self.socket = socket
        self.spools = spools
        self.arguments = arguments
    }

    /// Reads a command line whose first word is `program`; nil for any other.
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

    /// The service's command line, as bytes.
    package var commandLine: [[UInt8]] { ([Self.program] + arguments).map { Array($0.utf8) } }

    /// The whole command line.
    package var words: [String] {
        [Self.program, "\(service)", "\(socket)", spools.map { "\($0)" }.joined(separator: ",")] + arguments
    }

    private static let started = Mutex<ServerWorker?>(nil)

    /// The worker that this process is; nil in any other process.
    package static var current: ServerWorker? { started.withLock { $0 } }

    /// Makes this process a worker if `words`, its command line, begin with `program`.
    ///
    /// - Throws: `TransportError` if another program than the service started it, or the service has ended.
    package static func begin(_ words: [String]) throws(TransportError) {
        guard words.first == program else { return }
        var status = stat()
        guard let worker = ServerWorker(words), worker.socket > STDERR_FILENO, fstat(worker.socket, &status) == 0,
            status.st_mode & S_IFMT == S_IFSOCK
        else { throw TransportError("\(program) is a part of 'smime serve', and only 'smime serve' can start it") }
        #if os(Linux)
        ProcessName.set(program)
        // It ends by itself when the socket closes; this is for a service that is killed while the worker works.
        guard ParentProcess.sendsWhenEnding(SIGKILL, from: worker.service) else {
            throw TransportError("the service has ended")
        }
        #endif
        // A terminal or a service manager may signal the whole group; the service says when its workers end.
        for ignored in [SIGINT, SIGTERM, SIGHUP] { signal(ignored, SIG_IGN) }
        for descriptor in worker.spools + [worker.socket] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        started.withLock { $0 = worker }
    }
}
