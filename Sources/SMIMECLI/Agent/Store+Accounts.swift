import Foundation
import PKIX
import SMIMEAgent
import SMIMEStore

extension Store {
    /// The known faults of the certificates of `accounts`. A folder of lists that cannot be read causes a warning.
    func verdicts(on accounts: [Account], at time: Date) async throws -> CertificateVerdicts {
        try await verdicts(on: accounts, at: time, warn: Console.warning)
    }
}
