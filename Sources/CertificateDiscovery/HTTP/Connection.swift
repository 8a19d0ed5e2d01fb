import Foundation
import Synchronization

/// A socket that one thread uses and another thread may shut down.
final class Connection: Sendable {
    private enum State {
        case none
        case open(CInt)
        case shutDown
    }

    private let state = Mutex(State.none)

    /// Shuts the connection down. If it is not open yet, prevents it from being opened.
    func shutDown() {
        state.withLock { state in
            if case .open(let descriptor) = state { shutdown(descriptor, CInt(SHUT_RDWR)) }
            state = .shutDown
        }
    }

    /// Connects a socket to one of `addresses` before `deadline`, lends the socket to `body`, and closes it.
    ///
    /// - Throws: `.hostFailure`, `.notReached`, `.timeLimit`; `.cancelled` after `shutDown()`; errors of `body`.
    func open<Value>(
        to addresses: [PeerAddress],
        before deadline: ContinuousClock.Instant,
        _ body: (CInt) throws(RevocationError) -> Value
    ) throws(RevocationError) -> Value {
        var failure = RevocationError.notReached("it has no address")
        for address in addresses {
            let descriptor: CInt
            do throws(RevocationError) { descriptor = try Self.makeSocket(address.family) } catch {
                // The system may lack IPv6.
                failure = error
                continue
            }
            let isOpen = state.withLock { state in
                guard case .none = state else { return false }
                state = .open(descriptor)
                return true
            }
            defer { release(descriptor) }
            guard isOpen else { throw .cancelled }
            do throws(RevocationError) { try connect(descriptor, to: address, before: deadline) } catch {
                failure = error
                continue
            }
            return try body(descriptor)
        }
        throw failure
    }

    /// Closes the socket. Holds the lock meanwhile, so that another thread cannot shut down a new file with the same
    /// descriptor number.
    private func release(_ descriptor: CInt) {
        state.withLock { state in
            close(descriptor)
            if case .open = state { state = .none }
        }
    }

    private static func makeSocket(_ family: CInt) throws(RevocationError) -> CInt {
        #if canImport(Glibc)
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw failure(errno) }
        return descriptor
    }

    private func connect(
        _ descriptor: CInt,
        to address: PeerAddress,
        before deadline: ContinuousClock.Instant
    ) throws(RevocationError) {
        let flags = fcntl(descriptor, F_GETFL)
        guard fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else { throw Self.failure(errno) }
        if address.connect(descriptor) != 0 {
            guard errno == EINPROGRESS else { throw Self.failure(errno) }
            try wait(descriptor, before: deadline)
            var (code, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
            guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0, code == 0 else {
                throw Self.failure(code)
            }
        }
        // From here on, another thread enforces the deadline with `shutDown()`.
        guard fcntl(descriptor, F_SETFL, flags) == 0 else { throw Self.failure(errno) }
    }

    /// Waits until the socket is connected or the attempt has failed.
    private func wait(_ descriptor: CInt, before deadline: ContinuousClock.Instant) throws(RevocationError) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw .timeLimit }
            let milliseconds = min(
                100,
                max(1, left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000)
            )
            let count = poll(&entry, 1, CInt(milliseconds))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw Self.failure(errno) }
            if case .shutDown = state.withLock({ $0 }) { throw .cancelled }
        }
    }

    private static func failure(_ code: CInt) -> RevocationError {
        let text = String(cString: strerror(code))
        return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) ? .hostFailure(text) : .notReached(text)
    }
}
