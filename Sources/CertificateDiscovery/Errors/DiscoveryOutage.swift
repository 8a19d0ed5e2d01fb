import Foundation

/// Why a source of certificates could not be queried. It is then unknown which certificates the source contains.
package struct DiscoveryOutage: Error, Equatable, Sendable {
    /// The reason, as the end of the sentence "… cannot be asked: ". The reason contains no mail address.
    package let reason: String
    /// Whether mail that should be encrypted if possible must wait. True in these cases:
    /// - Others may have caused the outage, by data in the source or by other addresses of the message. Otherwise they could
    ///   make mail leave unencrypted.
    /// - The fault is on this host.
    package let holdsMail: Bool

    /// Whether the source was not asked about this address, or too briefly, because of other addresses. The next time, the
    /// source is asked about this address first.
    package let isMissedTurn: Bool

    package init(_ reason: String, holdsMail: Bool = false) {
        (self.reason, self.holdsMail, isMissedTurn) = (reason, holdsMail, false)
    }

    private init(missedTurn reason: String) { (self.reason, holdsMail, isMissedTurn) = (reason, true, true) }

    /// An outage because of unreadable data, or of a file, program, library or setting of this host that cannot be used.
    package static func fault(_ reason: String) -> DiscoveryOutage { DiscoveryOutage(reason, holdsMail: true) }

    /// The source did not answer in time.
    package static let timeLimit = DiscoveryOutage("no answer in time")
    /// The source answers, but the answer about the address takes too long to receive or to read.
    package static let readingTooLong = DiscoveryOutage(
        "its answer about the address takes too long to read",
        holdsMail: true
    )
    /// The source was not asked about an address, or too briefly, because other addresses used up the time.
    package static let noTurn = missedTurn("no time was left for the address")

    /// The outage of an address that missed its turn.
    package static func missedTurn(_ reason: String) -> DiscoveryOutage { DiscoveryOutage(missedTurn: reason) }
}

extension DiscoveryOutage: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { reason }
}
