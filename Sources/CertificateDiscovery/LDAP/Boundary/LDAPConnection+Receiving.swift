import CLDAP
import Foundation

/// Waits for the server's messages, and notices whether anything arrives meanwhile: libldap reports a message that has not
/// arrived completely in the same way as no message.
extension LDAPConnection {
    /// The maximum number of bytes that a server sends outside of answers, such as the session tickets of TLS 1.3.
    private static let maximumUnasked = 1 << 14
    /// How long to wait for the socket before libldap is asked again, in milliseconds.
    private static let longestWait: CInt = 50

    /// Whether an answer to the current search is arriving.
    var isReceiving: Bool { receivedCount > Self.maximumUnasked }

    /// Waits for the next message of a search result.
    ///
    /// - Returns: the kind of the message; a negative number if the connection ended.
    /// - Throws: `DiscoveryOutage.timeLimit`
    ///
    /// libldap: `ldap_result`
    func receive(
        _ identifier: CInt,
        until deadline: ContinuousClock.Instant,
        _ message: inout OpaquePointer?
    ) throws(DiscoveryOutage) -> CInt {
        let descriptor = descriptor
        while true {
            _ = try Self.timeLeft(until: deadline)
            receivedCount += Self.waitingCount(descriptor)
            var noTime = timeval(tv_sec: 0, tv_usec: 0)
            let kind = library.result(pointer, identifier, CInt(LDAP_MSG_ONE), &noTime, &message)
            guard kind == 0 else { return kind }
            // poll(2) ignores a negative descriptor, and only waits.
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, Self.longestWait)
        }
    }

    /// The connection's socket; negative if there is none.
    private var descriptor: CInt {
        var buffer: OpaquePointer?
        var descriptor: CInt = -1
        guard library.getOption(pointer, CInt(LDAP_OPT_SOCKBUF), &buffer) == CInt(LDAP_SUCCESS), let buffer,
            library.controlBuffer(buffer, CInt(LBER_SB_OPT_GET_FD), &descriptor) > 0
        else { return -1 }
        return descriptor
    }

    /// The number of bytes that arrived at the socket and that libldap has not read; at most one more than `maximumUnasked`,
    /// which suffices for `isReceiving`.
    private static func waitingCount(_ descriptor: CInt) -> Int {
        var waiting = [UInt8](repeating: 0, count: maximumUnasked + 1)
        return max(0, recv(descriptor, &waiting, waiting.count, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)))
    }
}
