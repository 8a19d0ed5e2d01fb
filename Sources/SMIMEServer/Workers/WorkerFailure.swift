import Foundation
package import SMIMEStore

/// The reason that a worker cannot work.
package struct WorkerFailure: Error, Equatable, Sendable {
    /// One sentence, in lower case and without a full stop.
    package let reason: String
    /// Whether an administrator must repair the store, so that trying again is useless.
    package let isLasting: Bool
    /// Ways to repair the store, for the administrator who starts the service.
    package let hints: [String]

    package init(_ reason: String, isLasting: Bool, hints: [String] = []) {
        self.reason = reason
        self.isLasting = isLasting
        self.hints = hints
    }

    /// The failure that `error` of the store causes.
    package init(_ error: KeystoreError, hints: [String]) {
        let isLasting =
            switch error {
            case .corrupt, .missing, .newer, .noStore, .older, .unusableAddress, .unusableRole: true
            default: false
            }
        self.init("\(error)", isLasting: isLasting, hints: hints)
    }
}

extension WorkerFailure: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { reason }
    package var description: String { reason }
}
