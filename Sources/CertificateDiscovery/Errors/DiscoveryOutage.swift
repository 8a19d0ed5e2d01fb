import Foundation

/// Why a source of certificates could not be queried. It is then unknown which certificates the source contains.
package struct DiscoveryOutage: Error, Equatable, Sendable {
    /// The reason, as the end of the sentence "… cannot be asked: ". The reason contains no mail address.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }

    /// The source did not answer in time.
    package static let timeLimit = DiscoveryOutage("no answer in time")
}

extension DiscoveryOutage: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { reason }
}
