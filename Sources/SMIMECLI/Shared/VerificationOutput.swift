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
        /// Whether it is inside a layer that is encrypted.
        let insideEncryption: Bool
        /// `part` if it is around a part of the message only.
        let coverage: String
        /// Who signed this layer.
        let signers: [LayerSigner]
        let problems: [ProblemReport]

        init(_ layer: VerificationReport.Layer) {
            type = layer.kind.rawValue
            algorithm = layer.algorithm
            insideEncryption = layer.isInsideEncryption
            coverage = layer.isPart ? "part" : "whole"
            signers = layer.signers.map(LayerSigner.init)
            problems = layer.problems.map(ProblemReport.init)
        }
    }

    struct LayerSigner: Encodable {
        let fingerprint: Fingerprint?
        let addresses: [String]
        let integrity: Bool?

        init(_ signer: VerificationReport.Signer) {
            fingerprint = signer.certificate?.fingerprint
            addresses = signer.certificate?.addresses ?? []
            integrity = signer.integrity.ok
        }
    }

    /// What is known of the header fields inside the protection.
    struct HeaderProtection: Encodable {
        let scheme: String
        let signed, encrypted, differing, added: [String]

        init(_ headers: HeaderReport) {
            scheme = headers.scheme.rawValue
            signed = headers.signed
            encrypted = headers.hidden
            differing = headers.differing
            added = headers.added
        }
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

    /// Whether the one whom `--assert-signer` names signed all of it.
    struct Assertion: Encodable {
        let signer: String
        let ok: Bool
    }

    let file: String
    let status: String
    /// Nil if nobody was named.
    let assertion: Assertion?
    /// The cryptographic summary of RFC 9787 §3.
    let summary: String
    let coverage: String
    let layers: [Layer]
    let signers: [Signer]
    let protectedHeaders: [String: String]
    let headerConfidentiality: [String]
    /// Nil if no field is inside.
    let headerProtection: HeaderProtection?
    /// What there is to learn from it; nil where nothing is learned from.
    let learned: [LearnedReport]?
    let problems: [ProblemReport]

    init(
        _ report: VerificationReport,
        learned: LearningReport? = nil,
        assertion: Assertion? = nil,
        file: String
    ) {
        self.file = file
        self.assertion = assertion
        status = report.status.rawValue
        coverage = report.coverage.rawValue
        summary = report.summary.rawValue
        layers = report.layers.map(Layer.init)
        signers = report.signers.map(Signer.init)
        protectedHeaders = report.isHeaderKnown ? report.headers?.values ?? [:] : [:]
        headerConfidentiality = report.headers?.hidden ?? []
        headerProtection = report.headers.map(HeaderProtection.init)
        self.learned = learned?.entries.map(LearnedReport.init)
        problems = report.problems.map(ProblemReport.init)
    }
}

extension VerificationReport {
    /// The report in words: the verdict, each signer with the five axes, and every problem with its code.
    func text(file: String) -> String {
        var lines = ["\(file): \(status.rawValue)\(coverage == .part ? ", a part of the message only" : "")"]
        lines.append("  summary     \(summary.rawValue)")
        for layer in layers {
            lines.append("  layer       \(layer.text)")
            // An error stands with the signers whose integrity it is about.
            lines += layer.problems.filter { $0.level == .warning }.map { "  \($0.line)" }
        }
        if let headers, isHeaderKnown {
            let lists = [("signed", headers.signed), ("encrypted", headers.hidden)]
            lines += lists.filter { !$1.isEmpty }.map { "  header      \($0): \($1.joined(separator: ", "))" }
        }
        for signer in signers { lines += signer.lines }
        lines += problems.map(\.line)
        return lines.map(\.escapedForDisplay).joined(separator: "\n") + "\n"
    }
}

extension VerificationReport.Layer {
    /// The layer in words: what it does, by whom, and where a signature stands.
    var text: String {
        guard kind == .signed else { return "\(kind.rawValue) with \(algorithm)" }
        let names = signers.map { $0.certificate.map { $0.addresses.first ?? "\($0.subject)" } ?? "unknown" }
        let who = names.isEmpty ? "nobody" : names.joined(separator: ", ")
        return "signed by \(who)\(isInsideEncryption ? ", inside the encryption" : "")"
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
            let isUnknown = axis.ok == true && axis.problems.contains { $0.kind == .revocationUnknown }
            let verdict = axis.ok.map { $0 ? isUnknown ? "unknown" : "ok" : "FAILED" } ?? "not checked"
            lines.append("  \(name.padding(toLength: 11, withPad: " ", startingAt: 0)) \(verdict)")
            lines += axis.problems.map { "  \($0.line)" }
        }
        return lines
    }
}

extension Problem {
    fileprivate var line: String { "  \(level.rawValue): \(text) (\(code))" }
}
