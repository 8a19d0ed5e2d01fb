import SMIME
import SMIMEStore

/// The messages that this worker has handled, until it is known how they ended. The oldest ones are forgotten.
struct FinishedMails {
    struct Mail {
        /// How the journal knows it; nil if it does not.
        let entry: DeliveryJournal.Entry?
        /// What is to be learned from it.
        let learnable: VerifiedMessage?
    }

    /// A message is settled soon or never, so as many are remembered as a service has in flight.
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
