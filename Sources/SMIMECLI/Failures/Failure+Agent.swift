import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension Failure {
    init(agent error: AgentError) {
        switch error {
        case .unreadable(let file, let cause): self.init(cause, in: InputName.shown(file))
        case .unusableSigner(let cause, let fitting):
            let failure = Failure(keystore: cause)
            self.init(failure.status, failure.message, hints: Self.hints(fitting) + failure.hints)
        case .impossibleDigest(let digest, _): self.init(.usage, "--digest \(digest.rawValue): \(error)")
        case .noAccountCipher: self.init(.usage, "--cipher: \(error)")
        default: self.init(Self.status(of: error), "\(error)", hints: Self.hints(for: error))
        }
    }

    private static func status(of error: AgentError) -> ExitStatus {
        switch error {
        case .notRestorable(_, let why): status(of: why)
        case .doubtfulAuthor, .holdsPrivateKeys, .malformedRecipients, .noRecipientCertificate, .nothingLearned,
            .severalFrom,
            .tooBigForKeys,
            .tooManyIterations, .unknownCipher, .unpairedKey:
            .badData
        case .noAuthor, .noSigner, .notForSigning, .nothingToImport, .revokedSigner, .signerNotAuthor,
            .unnamedIdentity, .unusableSigner, .weakRecipientKey:
            .noUser
        case .noUsableCertificate(_, let isOutage): isOutage ? .unavailable : .noUser
        case .impossibleDigest, .noAccountCipher, .noRecipients: .usage
        case .unreadable, .unreadableFolder: .noInput
        }
    }

    private static func status(of reason: NotRestorable) -> ExitStatus {
        switch reason {
        case .accountBackup: .badData
        case .notRegular: .noInput
        case .theStore: .usage
        }
    }

    /// Hints about the error, with commands.
    private static func hints(for error: AgentError) -> [String] {
        switch error {
        case .doubtfulAuthor: ["write exactly one address in From"]
        case .holdsPrivateKeys: ["import it with `smime import`"]
        case .malformedRecipients: ["name the recipients with --to"]
        case .noAuthor: ["name the signer with --from ADDR, which writes the field"]
        case .noRecipients: ["name them with --to ADDR"]
        case .noSigner: ["name the signer with --from ADDR"]
        case .noUsableCertificate(let choices, _): hints(for: choices)
        case .notRestorable(_, .accountBackup): ["to add them: smime account restore FILE"]
        case .nothingToImport: ["name the address yourself: smime recipient add ADDR FILE"]
        case .revokedSigner: ["to sign with it anyway: --revocation off"]
        case .signerNotAuthor(_, let certificate, let fitting): hints(fitting) + [hint(at: certificate)]
        case .tooManyIterations(let file, _, let more):
            [
                "if you trust its origin, allow more iterations once, which takes longer: "
                    + "smime import --max-iterations \(more) \(shell: file)"
            ]
        case .unnamedIdentity: ["name its account with --account ADDR"]
        case .unpairedKey: ["also name the file of its certificate"]
        case .impossibleDigest, .noAccountCipher, .noRecipientCertificate, .notForSigning, .nothingLearned,
            .notRestorable,
            .severalFrom, .tooBigForKeys,
            .unknownCipher, .unreadable, .unreadableFolder, .unusableSigner, .weakRecipientKey:
            []
        }
    }

    /// Hints that name the accounts that could sign instead.
    private static func hints(_ fitting: [EmailAddress]) -> [String] {
        fitting.map { "the account \($0) fits: smime sign --from \(shell: $0)" }
    }

    /// A hint that names the From addresses for which `certificate` could sign.
    private static func hint(at certificate: Certificate) -> String {
        let named = certificate.emailAddresses.prefix(3).map(\.text).joined(separator: " or ")
        return named.isEmpty
            ? "`smime account list` shows the accounts" : "it names \(named): write that in From"
    }
}
