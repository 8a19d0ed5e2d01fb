import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

/// A learned certificate in the form that reports show.
struct LearnedReport: Encodable {
    let address: String
    let fingerprint: Fingerprint
    let notAfter: Date
    let change: String
    let held: Bool
    let previous: Fingerprint?
    let messageId: String?

    init(_ entry: LearningReport.Entry) { self.init(HarvestSummary.Learned(entry)) }

    init(_ learned: HarvestSummary.Learned) {
        address = learned.address.text
        fingerprint = learned.fingerprint
        notAfter = learned.notAfter
        change = learned.kind.rawValue
        held = learned.isHeld
        previous = learned.previous
        messageId = learned.messageID
    }
}
