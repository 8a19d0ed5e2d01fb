import Foundation
import PKIX
import SMIMEAgent
import SMIMEStore

extension Store {
    /// The known faults of the certificates of `accounts`. If the folder of revocation lists cannot be read, a warning says
    /// so.
    func verdicts(on accounts: [Account], at time: Date) async throws -> CertificateVerdicts {
        try await verdicts(on: accounts, at: time, warn: Console.warning)
    }
}
