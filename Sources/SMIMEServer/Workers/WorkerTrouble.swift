import Foundation
package import SMIMEStore

/// Why a worker cannot work.
package struct WorkerTrouble: Error, Sendable {
    /// One sentence in lower case and without a full stop.
    package let reason: String
    /// Whether only an administrator can mend it, so that another attempt is no use.
    package let isLasting: Bool

    package init(_ reason: String, isLasting: Bool) {
        self.reason = reason
        self.isLasting = isLasting
    }

    /// What is wrong with the store.
    package init(_ error: KeystoreError) {
        let isLasting =
            switch error {
            case .corrupt, .missing, .newer, .noStore, .older, .unusableAddress: true
            default: false
            }
        self.init("\(error)", isLasting: isLasting)
    }
}

extension WorkerTrouble: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { reason }
    package var description: String { reason }
}
