import CLDAP
import Foundation
import Synchronization

/// Shuts down the sockets of an LDAP connection at its deadline, because libldap ignores its timeout during a TLS handshake.
///
/// The watch duplicates each descriptor, so that it never shuts down another file that later gets the same number.
final class SocketWatch: Sendable {
    private struct State {
        var sockets: [Int32] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let getDescriptor: ber_sockbuf_ctrl_function
    /// The callbacks for libldap, which stores this address.
    private nonisolated(unsafe) let pointer: UnsafeMutablePointer<ldap_conncb>

    /// The value for `LDAP_OPT_CONNECT_CB`. The watch must outlive the connection.
    var callbacks: UnsafeRawPointer { UnsafeRawPointer(pointer) }

    init(_ library: LDAPLibrary, until deadline: ContinuousClock.Instant) {
        getDescriptor = library.controlBuffer
        pointer = .allocate(capacity: 1)
        pointer.initialize(
            to: ldap_conncb(
                lc_add: { _, buffer, _, _, context in
                    guard let buffer, let argument = context?.pointee.lc_arg else { return 0 }
                    Unmanaged<SocketWatch>.fromOpaque(argument).takeUnretainedValue().add(buffer)
                    return 0
                },
                lc_del: { _, _, _ in },
                lc_arg: nil
            )
        )
        pointer.pointee.lc_arg = Unmanaged.passUnretained(self).toOpaque()
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
        let left = Double(seconds) + Double(attoseconds) / 1e18
        // This queue is separate, because all threads of the global queue may be waiting for servers.
        DispatchQueue(label: "deadline").asyncAfter(deadline: .now() + left) { [weak self] in self?.end() }
    }

    deinit { pointer.deallocate() }

    /// Shuts down the open sockets, and all sockets that are opened later.
    func end() {
        state.withLock { state in
            state.isOver = true
            for socket in state.sockets {
                shutdown(socket, CInt(SHUT_RDWR))
                close(socket)
            }
            state.sockets = []
        }
    }

    private func add(_ buffer: OpaquePointer) {
        var descriptor: CInt = -1
        guard getDescriptor(buffer, CInt(LBER_SB_OPT_GET_FD), &descriptor) > 0, descriptor >= 0 else { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return }
        state.withLock { state in
            state.sockets.append(copy)
            if state.isOver { shutdown(copy, CInt(SHUT_RDWR)) }
        }
    }
}
