import SMIME
import SMIMEStore

/// The messages that this worker has handled and whose result is not known yet. The oldest messages are forgotten.
struct FinishedMails {
    struct Mail {
        /// The message's entry in the journal; nil if it has none.
        let entry: DeliveryJournal.Entry?
        /// The message to learn from if it is delivered; nil if there is nothing to learn.
        let learnable: VerifiedMessage?
    }

    /// The number of messages that are kept at least: as many as a service has in flight. The result of a message becomes
    /// known soon or never.
    private static let maximum = 1024

    private var mails: [UInt64: Mail] = [:]
    private var order: [UInt64] = []

    mutating func add(_ number: UInt64, entry: DeliveryJournal.Entry?, learnable: VerifiedMessage?) {
        guard entry != nil || learnable != nil else { return }
        mails[number] = Mail(entry: entry, learnable: learnable)
        order.append(number)
        guard order.count > 2 * Self.maximum else { return }
        for number in order.prefix(Self.maximum) { mails[number] = nil }
        order.removeFirst(Self.maximum)
    }

    subscript(_ number: UInt64) -> Mail? { mails[number] }
}
