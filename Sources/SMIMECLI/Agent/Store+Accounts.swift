import Foundation
import PKIX
import SMIMEAgent
import SMIMEStore

extension Store {
    /// What is known against the certificates of `accounts`; of a folder of lists that cannot be read a warning tells.
    func verdicts(on accounts: [Account], at time: Date) async throws -> CertificateVerdicts {
        try await verdicts(on: accounts, at: time, warn: Console.warning)
    }
}
