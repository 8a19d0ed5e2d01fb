import Foundation
import NIOCore
import SMIMEServer
import Synchronization

/// Workers without processes: each is a thread that reads requests from its socket and sends the test's answers.
final class FakeWorkers: Sendable {
    private struct State {
        var sockets: [Int32] = []
        var checks: [Int: Int] = [:]
        var jobCount = 0
        var readyCount = 0
        var notes: [String?] = []
    }

    private let state = Mutex(State())
    private let answer: @Sendable (_ worker: Int, WorkerRequest) -> WorkerAnswer?
    private let process: pid_t

    /// - Parameters:
    ///   - process: the process id of every worker, for the pool. By default no such process exists.
    ///   - answer: returns the answer of the worker with this number, counted from 0, to a request; nil for no answer.
    init(
        process: pid_t = .max,
        answer: @escaping @Sendable (_ worker: Int, WorkerRequest) -> WorkerAnswer?
    ) { (self.process, self.answer) = (process, answer) }

    /// The number of checks requested from the worker `number`.
    func checks(of number: Int) -> Int { state.withLock { $0.checks[number] ?? 0 } }

    /// The number of messages given to all workers together.
    var jobCount: Int { state.withLock { $0.jobCount } }

    /// The number of workers that have reported that they are ready.
    var readyCount: Int { state.withLock { $0.readyCount } }

    /// The noted values in order.
    var notes: [String?] { state.withLock { $0.notes } }

    func note(_ text: String?) { state.withLock { $0.notes.append(text) } }

    /// Makes the worker `number` send an unsolicited answer.
    func say(_ answer: WorkerAnswer, as number: Int) {
        guard let socket = state.withLock({ $0.sockets.indices.contains(number) ? $0.sockets[number] : nil }) else {
            return
        }
        Self.write(answer.frame, to: socket)
    }

    /// Ends the worker `number`.
    func end(_ number: Int) {
        state.withLock { state in
            guard state.sockets.indices.contains(number), state.sockets[number] >= 0 else { return }
            _ = shutdown(state.sockets[number], Int32(SHUT_RDWR))
        }
    }

    func start() throws -> WorkerProcess {
        // The pool may close its end of the socket while a worker writes.
        _ = signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        let (ours, theirs) = (ends[0], ends[1])
        let number = state.withLock { state in
            state.sockets.append(theirs)
            return state.sockets.count - 1
        }
        Thread.detachNewThread { [self] in work(number, theirs) }
        return WorkerProcess(identifier: process, socket: ours)
    }

    private func work(_ number: Int, _ socket: Int32) {
        Self.write(WorkerAnswer.ready(locksKeys: true).frame, to: socket)
        state.withLock { $0.readyCount += 1 }
        var received = ByteBuffer()
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(socket, &bytes, bytes.count)
            guard count > 0 else { break }
            received.writeBytes(bytes.prefix(count))
            while let frame = try? WorkerFrame.next(in: &received), let request = try? WorkerRequest(frame) {
                state.withLock { state in
                    switch request {
                    case .check: state.checks[number, default: 0] += 1
                    case .handle: state.jobCount += 1
                    default: break
                    }
                }
                if let answer = answer(number, request) { Self.write(answer.frame, to: socket) }
            }
        }
        state.withLock { $0.sockets[number] = -1 }
        close(socket)
    }

    private static func write(_ frame: ByteBuffer, to socket: Int32) {
        let bytes = Array(frame.readableBytesView)
        _ = Foundation.write(socket, bytes, bytes.count)
    }
}
