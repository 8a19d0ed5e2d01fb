package import Foundation
package import InternetMessage
package import PKIX
package import SMIMEStore

/// Which of an account's several identities are used today, and why.
package struct CurrentIdentities: Sendable {
    /// An identity that is used.
    package struct Choice: Hashable, Sendable {
        /// The purpose that the identity is used for; nil if it is used for both.
        package var purpose: IdentitySelection.Purpose?
        package let certificate: Certificate
        package let merit: IdentitySelection.Merit
    }

    /// The account.
    package let account: EmailAddress
    /// The identities in use; empty if the account has only one identity, or none that can be used.
    package let choices: [Choice]

    /// - Parameter verdicts: the known faults of the account's certificates.
    package init(of account: Account, at time: Date, verdicts: CertificateVerdicts) {
        self.account = account.address
        guard account.identities.count > 1 else {
            choices = []
            return
        }
        var found = [IdentitySelection.Purpose.signing, .encryption].compactMap { purpose -> Choice? in
            let states = IdentitySelection.judge(
                account.identities,
                for: account.address,
                purpose: purpose,
                at: time,
                verdicts: verdicts
            )
            guard let index = states.firstIndex(of: .current) else { return nil }
            let current = account.identities[index]
            let merit = IdentitySelection.merit(of: current, among: account.identities, states)
            return Choice(purpose: purpose, certificate: current.certificate, merit: merit)
        }
        if found.count == 2, found[0].certificate == found[1].certificate, found[0].merit == found[1].merit {
            found.removeLast()
            found[0].purpose = nil
        }
        choices = found
    }
}
