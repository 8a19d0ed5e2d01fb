import SMIME
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
    /// The certificates that can be learned from the message; nil if the command does not learn.
    private let learned: [LearnedReport]?

    init(
        _ report: VerificationReport,
        learned: LearningReport? = nil,
        assertion: Assertion? = nil,
        file: String
    ) {
        self.file = file
        self.report = report
        self.assertion = assertion
        self.learned = learned?.entries.map(LearnedReport.init)
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
