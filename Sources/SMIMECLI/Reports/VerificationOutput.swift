import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEStore

/// A verification report as JSON.
struct VerificationOutput: Encodable {
    struct Layer: Encodable {
        let type: String
        let algorithm: String
        /// Whether it is inside a layer that is encrypted.
        let insideEncryption: Bool
        /// `part` if it is around a part of the message only.
        let coverage: String
        /// The signers of this layer.
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

    /// The protected header fields.
    struct HeaderProtection: Encodable {
        let scheme: String
        let signed, encrypted, differing, added: [String]
        /// The outer values of fields that differ or were added.
        let outside: [String: String]

        init(_ headers: HeaderReport) {
            scheme = headers.scheme.rawValue
            signed = headers.signed
            encrypted = headers.hidden
            differing = headers.differing
            added = headers.added
            outside = headers.outside
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
            // An axis that was not checked is null, not a missing key.
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
        let digest: String
        let signature: String
        let capabilities: [String]
        let integrity, chain, identity, revocation, time: Axis
        /// Which of `layers` it is, from 0.
        let layer: Int
        /// Whether the signature is inside a layer that is encrypted.
        let insideEncryption: Bool
        /// `part` if it is about a part of the message only.
        let coverage: String
        /// Whether the verdict depends on it.
        let decisive: Bool

        init(_ signer: VerificationReport.Signer, of layer: VerificationReport.Layer, at index: Int) {
            self.layer = index
            insideEncryption = layer.isInsideEncryption
            coverage = layer.isPart ? "part" : "whole"
            decisive = layer.isDecisive
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

    /// Whether the signer that `--assert-signer` names signed all of it.
    struct Assertion: Encodable {
        let signer: String
        let ok: Bool
    }

    let file: String
    let status: String
    /// Nil without --assert-signer.
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
    /// What can be learned from it; nil without learning.
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
        signers = report.layers.enumerated().flatMap { index, layer in
            layer.signers.map { Signer($0, of: layer, at: index) }
        }
        protectedHeaders = report.isHeaderKnown ? report.headers?.values ?? [:] : [:]
        headerConfidentiality = report.headers?.hidden ?? []
        headerProtection = report.headers.map(HeaderProtection.init)
        self.learned = learned?.entries.map(LearnedReport.init)
        problems = report.problems.map(ProblemReport.init)
    }
}
