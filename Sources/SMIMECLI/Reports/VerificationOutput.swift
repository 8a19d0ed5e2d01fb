import ArgumentParser
import CMSSyntax
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// A verification report as JSON, with further data of the command.
struct VerificationOutput: Encodable {
    /// Whether the signer that `--assert-signer` names signed the whole message.
    struct Assertion: Encodable {
        let signer: String
        let ok: Bool
    }

    private let file: String
    private let report: VerificationReport
    /// The result for `--assert-signer`; nil if the option is not given.
    private let assertion: Assertion?
    /// The certificates that the command learns from this input; nil if the command never learns.
    private let learned: [LearnedReport]?

    init(
        _ report: VerificationReport,
        learned: [LearningReport.Entry]? = nil,
        assertion: Assertion? = nil,
        file: String
    ) {
        self.file = file
        self.report = report
        self.assertion = assertion
        self.learned = learned?.map(LearnedReport.init)
    }

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(file, forKey: .file)
        try container.encodeIfPresent(assertion, forKey: .assertion)
        try container.encodeIfPresent(learned, forKey: .learned)
    }

    private enum Key: CodingKey { case assertion, file, learned }
}

/// The kinds of data that `inspect --extract` prints for other programs.
enum Extraction: String, Choice {
    /// The addresses in the certificates, one on each line.
    case addresses
    /// All certificates as PEM.
    case certificates
    /// The certificates of the signers as PEM.
    case signers

    /// Prints the data, each item once.
    ///
    /// - Throws: `Failure` with status 65 if there is no such data.
    func print(_ inspection: Inspection, _ opened: OpenedPKCS12?, file: String) throws {
        var certificates = Self.certificates(of: inspection, opened)
        if self == .signers {
            let names = inspection.outlines.flatMap(\.signers).map(\.identifier)
            certificates = certificates.filter { certificate in names.contains { $0.matches(certificate) } }
        }
        let texts = self == .addresses ? certificates.flatMap(\.addresses).map(Self.line) : certificates.map(\.pem)
        var seen: Set<String> = []
        let unique = texts.filter { seen.insert($0).inserted }
        let what = self == .signers ? "certificates of signers" : rawValue
        guard !unique.isEmpty else { throw Failure(.badData, "\(file): contains no \(what)") }
        try Console.print(unique.joined())
    }

    /// All certificates in a file or message.
    static func certificates(of inspection: Inspection, _ opened: OpenedPKCS12?) -> [Certificate] {
        inspection.certificates + (opened.map { $0.own + $0.others } ?? [])
    }

    private static func line(_ address: String) -> String { "\(address.escapedForDisplay)\n" }
}

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
            verdict.isValid ? (isSignedAsMail ? .good : .neutral) : status == .unsigned ? .neutral : .bad
        let remarks = verdict.remarks.map { "\($0.text) (\($0.code))" }
        let sentence = verdict.text + (isEncrypted ? "; encrypted" : "")
        return ReadVerdict(tone, sentence, isSigned: verdict.isValid, remarks: remarks)
    }

    /// The verdicts on the signed parts, by the parts' sections; nil if a signature covers the whole message or nothing is
    /// signed.
    var readPartVerdicts: [String: ReadVerdict]? {
        guard coverage == .part else { return nil }
        return Dictionary(grouping: layers.flatMap(\.signers)) { $0.section ?? "" }.compactMapValues { signers in
            // If a part has several signers, the first one with a bad signature is named, otherwise the sender.
            let bad = signers.first { !isGoodForItsPart($0) }
            return (bad ?? signers.first { $0.cosigning == nil } ?? signers.first).map(readVerdict(on:))
        }
    }

    /// Whether the signers can be assumed to know the text, and to have signed it as mail.
    var isSignedAsMail: Bool {
        signers.allSatisfy { signer in
            reservations(about: signer).allSatisfy { ![.outside, .purpose].contains($0.kind.reservation) }
        }
    }

    /// Whether the verdict on the whole message also holds for the parts that are shown.
    var coversParts: Bool { coverage == .whole && isSignedAsMail }

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

    /// The header fields that are protected by a signature, by their names in lower case; empty unless the verdict is `valid` or
    /// `weak`.
    var signedFields: [String: String] {
        guard let headers, isHeaderKnown, status == .valid || status == .weak else { return [:] }
        return headers.values.filter { headers.signed.contains($0.key) }
    }
}
