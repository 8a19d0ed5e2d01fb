import Foundation

/// Why a source of certificates could not be asked; it is not known what it has.
package struct DiscoveryOutage: Error, Equatable, Sendable {
    /// Completes "… cannot be asked: "; names no address.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }

    /// It did not answer in time.
    package static let timeLimit = DiscoveryOutage("no answer in time")
}

extension DiscoveryOutage: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { reason }
}
