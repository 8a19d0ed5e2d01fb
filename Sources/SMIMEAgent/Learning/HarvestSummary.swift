package import Foundation
package import InternetMessage
package import PKIX
package import SMIMEStore

/// The result of a harvest.
package struct HarvestSummary: Sendable {
    /// A certificate that was learned. Only these values are stored, so that memory does not grow with the mailbox.
    package struct Learned: Sendable {
        package let address: EmailAddress
        package let fingerprint: Fingerprint
        package let notAfter: Date
        package let kind: LearningReport.Kind
        /// Whether the certificate is not used until a person trusts it.
        package let isHeld: Bool
        /// The newest of the certificates that were known before; nil if there was none.
        package let previous: Fingerprint?
        package let messageID: String?

        package init(_ entry: LearningReport.Entry) {
            address = entry.address
            fingerprint = entry.certificate.fingerprint
            notAfter = entry.certificate.notAfter
            kind = entry.kind
            isHeld = entry.isHeld
            previous = entry.previous?.fingerprint
            messageID = entry.messageID
        }
    }

    /// A message that nothing was learned from, other than an unsigned one; or a directory entry that cannot be opened.
    package struct Refusal: Sendable {
        package let place: MailSources.Place
        package let reason: Reason
    }

    /// Why nothing was learned.
    package enum Reason: Sendable {
        /// The verdict on the message, in a few words.
        case verdict(String)
        /// The error that prevented verification.
        case error(any Error)
    }

    /// The most refusals, and the most unquoted messages, that are listed. Of further refusals, the summary gives only
    /// the number; further unquoted messages are left out.
    private static let maximumCount = 10_000

    /// How many messages were judged.
    package internal(set) var messages = 0
    /// How many of the messages are not signed.
    package internal(set) var unsigned = 0
    /// The learned certificates, in the order in which they were learned.
    package private(set) var learned: [Learned] = []
    /// The first messages that nothing was learned from, and directory entries that cannot be opened.
    package private(set) var refused: [Refusal] = []
    /// The number of all refusals, whether listed in `refused` or not.
    package private(set) var refusedCount = 0
    /// The first messages whose signature is valid only after the mailbox's quoting of lines that begin with "From " is
    /// removed.
    package private(set) var unquoted: [MailSources.Place] = []
    package internal(set) var isInterrupted = false
    /// Why the harvest ended early; nil if it did not.
    package internal(set) var failure: (any Error)?

    package init() {}

    mutating func refuse(_ place: MailSources.Place, _ reason: Reason) {
        refusedCount += 1
        guard refused.count < Self.maximumCount else { return }
        refused.append(Refusal(place: place, reason: reason))
    }

    mutating func addUnquoted(_ place: MailSources.Place) {
        guard unquoted.count < Self.maximumCount else { return }
        unquoted.append(place)
    }

    mutating func add(_ report: LearningReport) { learned += report.entries.map(Learned.init) }
}
