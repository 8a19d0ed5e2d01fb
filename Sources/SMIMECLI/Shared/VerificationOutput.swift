import CMS
import Foundation
import Keystore
import MIME
import SMIME

/// A verification report as JSON; the keys are those of cli.md.
struct VerificationOutput: Encodable {
    struct Layer: Encodable {
        let type: String
        let algorithm: String
        let problems: [ProblemReport]
    }

    struct Axis: Encodable {
        let ok: Bool?
        let problems: [ProblemReport]

        init(_ axis: VerificationReport.Axis) {
            ok = axis.ok
            problems = axis.problems.map(ProblemReport.init)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            // An axis nobody looked at says so: null, not a missing key.
            try container.encode(ok, forKey: .ok)
            try container.encode(problems, forKey: .problems)
        }

        private enum Key: CodingKey { case ok, problems }
    }

    struct Signer: Encodable {
        let fingerprint: Fingerprint?
        let subject: String?
        let addresses: [String]
        let signingTime: Date?
        let digest: String?
        let signature: String
        let capabilities: [String]
        let integrity, chain, identity, revocation, time: Axis

        init(_ signer: VerificationReport.Signer) {
            fingerprint = signer.certificate?.fingerprint
            subject = signer.certificate?.subject.description
            addresses = signer.certificate?.addresses ?? []
            signingTime = signer.signingTime
            digest = signer.digest
            signature = signer.signature
            capabilities = signer.capabilities
            integrity = Axis(signer.integrity)
            chain = Axis(signer.chain)
            identity = Axis(signer.identity)
            revocation = Axis(signer.revocation)
            time = Axis(signer.time)
        }
    }

    let file: String
    let status: String
    let coverage: String
    let layers: [Layer]
    let signers: [Signer]
    let protectedHeaders: [String: String]
    let headerConfidentiality: [String]
    /// What there is to learn from it; nil where nothing is learned from.
    let learned: [LearnedReport]?
    let problems: [ProblemReport]

    init(_ report: VerificationReport, learned: LearningReport? = nil, file: String) {
        self.file = file
        status = report.status.rawValue
        coverage = report.coverage.rawValue
        layers = report.layers.map {
            Layer(type: $0.kind.rawValue, algorithm: $0.algorithm, problems: $0.problems.map(ProblemReport.init))
        }
        signers = report.signers.map(Signer.init)
        protectedHeaders = [:]
        headerConfidentiality = []
        self.learned = learned?.entries.map(LearnedReport.init)
        problems = report.problems.map(ProblemReport.init)
    }
}

extension VerificationReport {
    /// The report in words: the verdict, each signer with the five axes, and every problem with its code.
    func text(file: String) -> String {
        var lines = ["\(file): \(status.rawValue)\(coverage == .part ? ", a part of the message only" : "")"]
        lines += layers.filter { $0.kind != .signed }.map { "  \($0.kind.rawValue) with \($0.algorithm)" }
        for signer in signers { lines += signer.lines }
        lines += problems.map(\.line)
        return lines.map(\.escapedForDisplay).joined(separator: "\n") + "\n"
    }
}

extension VerificationReport.Signer {
    fileprivate var lines: [String] {
        var lines = ["  signer      \(certificate.map { "\($0.subject)" } ?? "unknown")"]
        if let certificate {
            lines.append("  addresses   \(certificate.addresses.joined(separator: ", "))")
            lines.append("  certificate \(certificate.fingerprint)")
        }
        if let signingTime { lines.append("  signed at   \(signingTime.formatted(.iso8601))") }
        lines.append("  signature   \(signature) with \(digest ?? "an unknown digest")")
        let axes = [
            ("integrity", integrity), ("chain", chain), ("identity", identity), ("revocation", revocation),
            ("time", time),
        ]
        for (name, axis) in axes {
            let verdict = axis.ok.map { $0 ? "ok" : "FAILED" } ?? "not checked"
            lines.append("  \(name.padding(toLength: 11, withPad: " ", startingAt: 0)) \(verdict)")
            lines += axis.problems.map { "  \($0.line)" }
        }
        return lines
    }
}

extension Problem {
    fileprivate var line: String { "  \(level.rawValue): \(text) (\(code))" }
}
