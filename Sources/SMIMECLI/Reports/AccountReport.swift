import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// An account in the form that reports show.
struct AccountReport: Encodable {
    struct IdentityLine: Encodable {
        let fingerprint: Fingerprint
        let current: Bool
        let pinned: Bool
        /// The uses of the certificate: `encrypt`, `sign`.
        let usage: [String]
        let standing: String
        let subject: String
        let addresses: [String]
        let notBefore: Date
        let notAfter: Date
    }

    /// The policy rule for mail that the account sends; empty if there is none.
    struct PolicyLine: Encodable {
        let sign: String?
        let encrypt: String?
        let override: String?
        let missing: String?

        init(_ rule: Policy.Rule? = nil) {
            sign = rule?.sign?.rawValue
            encrypt = rule?.encrypt?.rawValue
            override = rule?.override?.rawValue
            missing = rule?.missing?.rawValue
        }
    }

    let address: String
    let aliases: [String]
    let name: String?
    /// Which header fields encrypted mail hides; if nil, the store's setting decides.
    let headerConfidentiality: String?
    let identities: [IdentityLine]
    var policy = PolicyLine()
    /// The account's cipher in the setting encryption.unknown; nil if there is none.
    var cipher: String?

    /// - Parameter verdicts: the known faults of the account's certificates.
    init(_ account: Account, at time: Date, verdicts: CertificateVerdicts) {
        address = account.address.text
        aliases = account.aliases
        name = account.name
        headerConfidentiality = account.headerConfidentiality?.rawValue
        func states(_ purpose: IdentitySelection.Purpose) -> [IdentitySelection.SelectionState] {
            IdentitySelection.judge(
                account.identities,
                for: account.address,
                purpose: purpose,
                at: time,
                verdicts: verdicts
            )
        }
        let (signing, encryption) = (states(.signing), states(.encryption))
        identities = account.identities.indices.map { index in
            let certificate = account.identities[index].certificate
            let state = signing[index] == .wrongUsage ? encryption[index] : signing[index]
            return IdentityLine(
                fingerprint: certificate.fingerprint,
                current: signing[index] == .current || encryption[index] == .current,
                pinned: account.identities[index].isPinned,
                usage: certificate.usage,
                standing: (encryption[index] == .current ? .current : state).rawValue,
                subject: certificate.subject.description,
                addresses: certificate.addresses,
                notBefore: certificate.notBefore,
                notAfter: certificate.notAfter
            )
        }
    }

    /// The report on an account, judged by the revocation data of `store`, with the account's cipher from the settings.
    init(_ account: Account, at time: Date, in store: Store) async throws {
        self.init(account, at: time, verdicts: try await store.verdicts(on: [account], at: time))
        cipher = try await store.cipherPreferences().cipher(for: account.address)?.name
    }

    /// A description of the account in one line.
    var title: String {
        let names = [name].compactMap(\.self) + aliases
        return names.isEmpty ? address : "\(address) (\(names.joined(separator: ", ")))"
    }

    private enum CodingKeys: CodingKey {
        case address, aliases, cipher, headerConfidentiality, identities, name, policy
    }
}

extension Certificate {
    /// The uses of the certificate in mail.
    var usage: [String] { (canEncrypt ? ["encrypt"] : []) + (canSign ? ["sign"] : []) }
}
