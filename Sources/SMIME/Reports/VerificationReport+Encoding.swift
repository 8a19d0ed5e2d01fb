import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension VerificationReport: Encodable {
    /// Encodes the verdict as in the JSON of `smime verify --json`, which adds `schema`, `file` and `learned`: keys in
    /// snake_case, times in the format of RFC 3339.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(status.rawValue, forKey: .status)
        try container.encode(summary.rawValue, forKey: .summary)
        try container.encode(coverage.rawValue, forKey: .coverage)
        try container.encode(layers.map(EncodedLayer.init), forKey: .layers)
        let signers = layers.enumerated().flatMap { index, layer in
            layer.signers.map { EncodedSigner($0, of: layer, at: index) }
        }
        try container.encode(signers, forKey: .signers)
        try container.encode(isHeaderKnown ? headers?.values ?? [:] : [:], forKey: .protectedHeaders)
        try container.encode(headers?.hidden ?? [], forKey: .headerConfidentiality)
        try container.encodeIfPresent(headers.map(EncodedHeaders.init), forKey: .headerProtection)
        try container.encode(problems.map(EncodedProblem.init), forKey: .problems)
    }

    private enum Key: String, CodingKey {
        case coverage, layers, problems, signers, status, summary
        case headerConfidentiality = "header_confidentiality"
        case headerProtection = "header_protection"
        case protectedHeaders = "protected_headers"
    }
}

private struct EncodedProblem: Encodable {
    let code, level, text: String

    init(_ problem: Problem) { (code, level, text) = (problem.code, problem.level.rawValue, problem.text) }
}

private struct EncodedAxis: Encodable {
    let axis: VerificationReport.Axis
    /// Whether a check was made that did not give a result.
    let isUnknown: Bool

    private var ok: Bool? { isUnknown ? nil : axis.ok }

    private var state: String {
        if isUnknown { return "unknown" }
        return axis.ok.map { $0 ? "ok" : "failed" } ?? "not-checked"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        // Unknown values are encoded as null instead of omitting their keys.
        try container.encode(ok, forKey: .ok)
        try container.encode(axis.problems.map(EncodedProblem.init), forKey: .problems)
        try container.encode(state, forKey: .state)
    }

    private enum Key: CodingKey { case ok, problems, state }
}

private struct EncodedLayer: Encodable {
    let layer: VerificationReport.Layer

    init(_ layer: VerificationReport.Layer) { self.layer = layer }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(layer.kind.rawValue, forKey: .type)
        try container.encode(layer.algorithm, forKey: .algorithm)
        try container.encode(layer.isInsideEncryption, forKey: .insideEncryption)
        try container.encode(layer.isPart ? "part" : "whole", forKey: .coverage)
        try container.encode(layer.signers.map(Signer.init), forKey: .signers)
        try container.encode(layer.problems.map(EncodedProblem.init), forKey: .problems)
    }

    private enum Key: String, CodingKey {
        case algorithm, coverage, problems, signers, type
        case insideEncryption = "inside_encryption"
    }

    /// Who signed the layer.
    private struct Signer: Encodable {
        let fingerprint: Fingerprint?
        let addresses: [String]
        let integrity: EncodedAxis

        init(_ signer: VerificationReport.Signer) {
            fingerprint = signer.certificate?.fingerprint
            addresses = signer.certificate?.reportedAddresses ?? []
            integrity = EncodedAxis(axis: signer.integrity, isUnknown: false)
        }
    }
}

private struct EncodedSigner: Encodable {
    let signer: VerificationReport.Signer
    let layer: VerificationReport.Layer
    let index: Int

    init(_ signer: VerificationReport.Signer, of layer: VerificationReport.Layer, at index: Int) {
        (self.signer, self.layer, self.index) = (signer, layer, index)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(signer.certificate?.fingerprint, forKey: .fingerprint)
        try container.encodeIfPresent(signer.certificate?.subject.description, forKey: .subject)
        try container.encode(signer.certificate?.reportedAddresses ?? [], forKey: .addresses)
        try container.encodeIfPresent(signer.author?.text, forKey: .author)
        try container.encodeIfPresent(signer.signingTime?.formatted(.iso8601), forKey: .signingTime)
        try container.encode(signer.digest, forKey: .digest)
        try container.encode(signer.signature, forKey: .signature)
        try container.encode(signer.capabilities, forKey: .capabilities)
        try container.encode(index, forKey: .layer)
        try container.encode(layer.isInsideEncryption, forKey: .insideEncryption)
        try container.encode(layer.isPart ? "part" : "whole", forKey: .coverage)
        try container.encode(layer.isDecisive, forKey: .decisive)
        let axes: [(VerificationReport.Axis, Key)] = [
            (signer.integrity, .integrity), (signer.chain, .chain), (signer.identity, .identity),
            (signer.revocation, .revocation), (signer.time, .time),
        ]
        for (axis, key) in axes {
            let isUnknown = key == .revocation && axis.ok == true && signer.isRevocationUnknown
            try container.encode(EncodedAxis(axis: axis, isUnknown: isUnknown), forKey: key)
        }
    }

    private enum Key: String, CodingKey {
        case addresses, author, capabilities, chain, coverage, decisive, digest, fingerprint, identity, integrity
        case layer, revocation, signature, subject, time
        case insideEncryption = "inside_encryption"
        case signingTime = "signing_time"
    }
}

private struct EncodedHeaders: Encodable {
    let scheme: String
    let signed, encrypted, differing, added: [String]
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
