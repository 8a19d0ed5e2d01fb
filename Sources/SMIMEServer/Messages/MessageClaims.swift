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

    /// Whether a message would have to wait for `name` although `limit` messages wait for some name already. Each of them has
    /// a slot, so that many copies of one message would make all other mail wait.
    package func isCrowded(_ name: String, limit: Int) -> Bool {
        claimants[name] != nil && claimants.values.reduce(0) { $0 + $1.count } >= limit
    }

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
