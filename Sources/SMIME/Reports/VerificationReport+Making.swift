public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension VerificationReport {
    /// A report on a message with these signers, for tests of a caller's decisions. The verdict results from the signers, the
    /// coverage and the problems. Nothing can be learned from it.
    ///
    /// - Parameters:
    ///   - signers: the signers of the one signed layer.
    ///   - coverage: how much of the message is signed.
    ///   - problems: the problems of the message as a whole.
    public init(signers: [Signer], coverage: Coverage = .whole, problems: [Problem] = []) {
        var builder = ReportBuilder()
        builder.coverage = coverage
        builder.add(
            Layer(kind: .signed, algorithm: "", problems: []),
            signers: signers,
            isPart: coverage == .part
        )
        builder.note(problems)
        self.init(builder)
    }
}

extension VerificationReport.Signer {
    /// A signer for tests of a caller's decisions. By default the signature is valid, and revocation was not checked.
    ///
    /// - Parameters:
    ///   - certificate: the signer's certificate; nil if none was found.
    ///   - signingTime: the signing time that the signer claims.
    ///   - integrity: whether the content is what was signed.
    ///   - chain: whether the certificate is trusted.
    ///   - identity: whether the signer is the sender.
    ///   - revocation: whether a certificate was revoked. The problem `.certificateRevoked` or `.chainRevoked` means that
    ///     one was; any other problem means that the status is unknown.
    ///   - time: whether the certificates are valid at the validation time.
    public init(
        certificate: Certificate? = nil,
        signingTime: Date? = nil,
        integrity: VerificationReport.Axis = .init([]),
        chain: VerificationReport.Axis = .init([]),
        identity: VerificationReport.Axis = .init([]),
        revocation: VerificationReport.Axis = .notChecked,
        time: VerificationReport.Axis = .init([])
    ) {
        self.init(
            certificate: certificate,
            signingTime: signingTime,
            digest: "sha256",
            signature: "",
            capabilities: [],
            integrity: integrity,
            chain: chain,
            identity: identity,
            revocation: revocation,
            time: time,
            section: nil,
            revocationStatus: .init(stated: revocation),
            unknownRevocation: nil,
            validity: .init(stated: time),
            isContentChanged: integrity.ok == false,
            isMismatched: identity.ok == false,
            mismatches: [],
            isIdentityUnclear: false,
            path: certificate.map { [$0] } ?? [],
            evidence: nil,
            author: nil
        )
    }
}

extension ChainVerdict.Revocation.Status? {
    /// The status that the problems of `axis` state; nil if revocation was not checked.
    fileprivate init(stated axis: VerificationReport.Axis) {
        self =
            if axis.ok == nil {
                nil
            } else if axis.problems.contains(where: { [.certificateRevoked, .chainRevoked].contains($0.kind) }) {
                .revoked
            } else {
                axis.problems.isEmpty ? .good : .unknown
            }
    }
}

extension ChainVerdict.Validity? {
    /// The validity that the problems of `axis` state; nil if it was not checked.
    fileprivate init(stated axis: VerificationReport.Axis) {
        self =
            if axis.ok == nil {
                nil
            } else if axis.problems.contains(where: { [.certificateNotYetValid, .chainNotYetValid].contains($0.kind) })
            {
                .notYet
            } else {
                axis.ok == true ? .current : .ended
            }
    }
}
