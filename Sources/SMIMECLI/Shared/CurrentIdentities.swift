import Foundation
import PKIX
import SMIMEStore

/// Which of several identities of an account are used today, and why.
struct CurrentIdentities {
    private typealias Purpose = IdentitySelection.Purpose

    /// A line for each of them; none where the account has no choice.
    let notes: [String]

    /// - Parameter verdicts: what is known against the account's certificates.
    init(of account: Account, at time: Date, verdicts: CertificateVerdicts) {
        guard account.identities.count > 1 else {
            notes = []
            return
        }
        let choices = [Purpose.signing, .encryption].compactMap { purpose -> (purpose: Purpose, words: String)? in
            let standings = IdentitySelection.judge(
                account.identities,
                for: account.address,
                purpose: purpose,
                at: time,
                verdicts: verdicts
            )
            guard let index = standings.firstIndex(of: .current) else { return nil }
            let current = account.identities[index]
            let merit = IdentitySelection.merit(of: current, among: account.identities, standings)
            return (purpose, "is \(current.certificate.fingerprint), \(merit.words)")
        }
        let isOne = choices.count == 2 && choices[0].words == choices[1].words
        notes = choices.prefix(isOne ? 1 : 2).map { choice in
            "\(account.address): the current identity \(isOne ? "" : "for \(choice.purpose.rawValue) ")\(choice.words)"
        }
    }
}

extension IdentitySelection.Merit {
    /// As it stands behind a certificate.
    fileprivate var words: String {
        switch self {
        case .newest: "the newest"
        case .only: "the only one that can be used"
        case .pinned: "which is pinned"
        case .trusted: "since nobody here trusts the chain of a newer one"
        }
    }
}
