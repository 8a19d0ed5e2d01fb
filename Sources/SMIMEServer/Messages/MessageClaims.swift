/// The journal names of the messages that are being handled. A second attempt to send a message waits for the first one.
///
/// A mail server that no longer waits for the reply tries again, possibly while the next hop still works on the first
/// attempt. When the first attempt has ended, its result is in the journal, and only then is the second attempt handled. The
/// claims of another service with the same store are not known here. Everything here runs on the event loop.
package final class MessageClaims {
    private struct Claimant {
        let number: UInt64
        let begin: () -> Void
    }

    /// The messages that wait for each claimed name.
    private var claimants: [String: [Claimant]] = [:]

    package init() {}

    /// The number of messages that may wait for one name. Each of them has a slot, so that many copies of one message would
    /// make all other mail wait.
    private static let maximumWaiting = 1

    /// Whether no further message may wait for `name`.
    package func isCrowded(_ name: String) -> Bool { (claimants[name]?.count ?? 0) >= Self.maximumWaiting }

    /// Calls `begin` when no other message claims `name`: now, or after the messages that asked earlier.
    package func acquire(_ name: String, for number: UInt64, _ begin: @escaping () -> Void) {
        guard claimants[name] != nil else {
            claimants[name] = []
            return begin()
        }
        claimants[name]?.append(Claimant(number: number, begin: begin))
    }

    /// Whether another message waits for `name`.
    package func isAwaited(_ name: String) -> Bool { claimants[name]?.isEmpty == false }

    /// Removes the message with the number `number` from those that wait for `name`.
    package func withdraw(_ name: String, for number: UInt64) { claimants[name]?.removeAll { $0.number == number } }

    /// Ends the claim to `name`: the message has ended, and its result is in the journal.
    package func release(_ name: String) {
        guard var waiting = claimants[name] else { return }
        guard !waiting.isEmpty else {
            claimants[name] = nil
            return
        }
        let next = waiting.removeFirst()
        claimants[name] = waiting
        next.begin()
    }
}
