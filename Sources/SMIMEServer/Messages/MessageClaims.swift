/// The messages that are being handled, by the names that the journal has for them: a second attempt at one waits for the first.
///
/// A mail server that does not wait for our reply any more tries again while the next hop may still work at the first attempt. What
/// became of that one is in the journal when it has ended, and only then is the second one handled. Another service with the same store
/// does not know of it. Everything here happens on the event loop.
package final class MessageClaims {
    private struct Claimant {
        let number: UInt64
        let begin: () -> Void
    }

    /// Who waits for each name that is held.
    private var claimants: [String: [Claimant]] = [:]

    package init() {}

    /// Calls `begin` when no other message holds `name`: now, or after those that asked before.
    package func acquire(_ name: String, for number: UInt64, _ begin: @escaping () -> Void) {
        guard claimants[name] != nil else {
            claimants[name] = []
            return begin()
        }
        claimants[name]?.append(Claimant(number: number, begin: begin))
    }

    /// Whether another message waits for `name`.
    package func isAwaited(_ name: String) -> Bool { claimants[name]?.isEmpty == false }

    /// Gives up waiting.
    package func withdraw(_ name: String, for number: UInt64) { claimants[name]?.removeAll { $0.number == number } }

    /// The message that holds `name` has ended, and the journal knows how.
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
