import PKIX
import SMIME
import SMIMEAgent

/// The verdicts that `smime read` shows above a message and its parts.
extension VerificationReport {
    /// The verdict on the message in one sentence, with further remarks for the reader.
    ///
    /// - Parameters:
    ///   - isEncrypted: whether the message was encrypted as a whole.
    ///   - context: what the store knows about the signer.
    func readVerdict(isEncrypted: Bool, _ context: SignerContext = SignerContext()) -> ReadVerdict {
        let verdict = VerdictSentence(self, file: nil, context: context)
        let tone: ReadVerdict.Tone =
            verdict.isValid ? (isKnowinglySigned ? .good : .neutral) : status == .unsigned ? .neutral : .bad
        let remarks = verdict.remarks.map { "\($0.text) (\($0.code))" }
        let sentence = verdict.text + (isEncrypted ? "; encrypted" : "")
        return ReadVerdict(tone, sentence, isSigned: verdict.isValid, remarks: remarks)
    }

    /// The verdicts on the signed parts, by the parts' sections; nil if a signature covers the whole message or nothing is
    /// signed.
    var readPartVerdicts: [String: ReadVerdict]? {
        guard coverage == .part else { return nil }
        return Dictionary(grouping: layers.flatMap(\.signers)) { $0.section ?? "" }.compactMapValues { signers in
            // If a part has several signers, the first signer with a bad signature is named.
            (signers.first { !isGoodForItsPart($0) } ?? signers.first).map(readVerdict(on:))
        }
    }

    /// Whether the signers can be assumed to know the text, and to have signed it as mail.
    var isKnowinglySigned: Bool {
        signers.allSatisfy { signer in
            reservations(about: signer).allSatisfy { ![.outside, .purpose].contains($0.kind.reservation) }
        }
    }

    /// Whether the verdict on the whole message also holds for the parts that are shown.
    var coversParts: Bool { coverage == .whole && isKnowinglySigned }

    /// Whether the message was encrypted as a whole.
    var isEncrypted: Bool { layers.contains { $0.kind.isEncryption && !$0.isPart } }

    private func isGoodForItsPart(_ signer: Signer) -> Bool {
        status(of: signer) == .partial && signer.status == .valid
    }

    /// The verdict on the signature of one part.
    private func readVerdict(on signer: Signer) -> ReadVerdict {
        guard !isGoodForItsPart(signer) else { return ReadVerdict(.good, "Valid: \(signer.claim)") }
        guard !signer.isContentChanged else {
            return ReadVerdict(.bad, "NOT valid: the content was changed after signing")
        }
        let errors = (signer.problems + problems).filter { $0.level == .error }
        return ReadVerdict(.bad, "NOT valid: \(signer.claim)" + (errors.first.map { " (\($0.text))" } ?? ""))
    }

    /// The header fields that a signature proves to be written by the author, by their names in lower case.
    var provenFields: [String: String] {
        guard let headers, isHeaderKnown, status == .valid || status == .weak else { return [:] }
        return headers.values.filter { headers.signed.contains($0.key) }
    }
}
