import PKIX
import SMIMEAgent
import SMIMEStore

extension CurrentIdentities {
    /// A line for each identity.
    var notes: [String] {
        choices.map { choice in
            let purpose = choice.purpose.map { "for \($0.rawValue) " } ?? ""
            return
                "\(account): the current identity \(purpose)is \(choice.certificate.fingerprint), \(choice.merit.words)"
        }
    }
}

extension IdentitySelection.Merit {
    /// The text after the certificate.
    fileprivate var words: String {
        switch self {
        case .newest: "the newest"
        case .only: "the only one that can be used"
        case .pinned: "which is pinned"
        case .trusted: "because the chain of a newer one is not trusted here"
        }
    }
}
