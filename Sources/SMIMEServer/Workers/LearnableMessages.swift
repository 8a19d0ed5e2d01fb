import SMIME

/// The messages that this worker has handled, from which it can learn if they are delivered. The oldest messages are
/// forgotten.
struct LearnableMessages {
    /// The number of messages that are kept at least: as many as a service has in flight. The result of a message becomes
    /// known soon or never.
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
