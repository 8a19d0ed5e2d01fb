import PKIX
import SMIME
import SMIMEAgent

/// The verdicts that `smime read` shows above a message and its parts.
extension VerificationReport {
    /// The verdict on the message in one sentence, with what else a reader should know.
    var readVerdict: ReadVerdict {
        let isEncrypted = layers.contains { $0.kind.isEncryption && !$0.isPart }
        let tone: ReadVerdict.Tone = status == .valid ? .good : status == .unsigned ? .neutral : .bad
        let remarks = (problems + layers.flatMap(\.problems) + layers.flatMap(\.signers).flatMap(\.problems)).filter {
            $0.kind != .revocationUnknown || $0.level == .error
        }
        var told: Set<String> = []
        let texts = remarks.map { "\($0.text) (\($0.code))" }.filter { told.insert($0).inserted }
        return ReadVerdict(tone, readSentence + (isEncrypted ? "; encrypted" : ""), remarks: texts)
    }

    private var readSentence: String {
        let signer = signers.first { self.status(of: $0) == status } ?? signers.first
        return switch status {
        case .unsigned: "Not signed: nothing proves who wrote this"
        case .malformed: "Malformed: the message is not what it claims to be, and no signature of it counts"
        case .partial: "Only a part is signed: see the verdict on each part"
        default: signer.map(readSentence) ?? "NOT valid"
        }
    }

    /// The verdict on one signature.
    private func readSentence(_ signer: Signer) -> String {
        let owner = "signed with the certificate of \(signer.name)"
        return switch status(of: signer) {
        case .valid, .partial: "Valid: signed by \(signer.name)"
        case .invalid where signer.isContentChanged: "NOT valid: the content was changed after signing"
        case .invalid, .malformed, .unsigned: "NOT valid: the signature does not fit"
        case .untrusted: "Not trusted: \(owner), which no authority you trust vouches for"
        case .revoked: "NOT valid: \(owner), which was revoked"
        case .expired: "Expired: \(owner), which has ended"
        case .notYetValid: "Not valid yet: \(owner), which has not begun"
        case .mismatch: "NOT the sender: \(owner), who is not the one in From"
        case .weak: "Weak: \(owner), by an algorithm that can be forged"
        }
    }

    /// The verdicts on the signed parts, by their sections; nil if a signature covers the message or nothing is signed.
    var readPartVerdicts: [String: ReadVerdict]? {
        guard coverage == .part else { return nil }
        let signed = layers.flatMap(\.signers)
        return Dictionary(grouping: signed) { $0.section ?? "" }.compactMapValues { signers in
            // Of several signers of one part the worst is told.
            let signer = signers.first { self.status(of: $0) != .partial } ?? signers.first
            guard let signer else { return nil }
            let isGood = self.status(of: signer) == .partial && signer.status == .valid
            let isWeak = signer.status == .weak
            return ReadVerdict(isGood ? .good : .bad, isWeak ? "Weak: \(readSentence(signer))" : readSentence(signer))
        }
    }

    /// The header fields that a signature proves to be the author's, by their names in lower case.
    var provenFields: [String: String] {
        guard let headers, isHeaderKnown, status == .valid || status == .weak else { return [:] }
        return headers.values.filter { headers.signed.contains($0.key) }
    }
}
