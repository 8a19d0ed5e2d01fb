import InternetMessage
import PKIX

extension MessageOpener {
    /// Judges the signers of one layer and adds them to the report.
    func judge(
        _ layer: SignedLayer,
        header: HeaderBlock?,
        protected: ProtectedHeader? = nil,
        coverage: VerificationReport.Coverage,
        at section: [Int]? = nil,
        into result: inout Verification
    ) async throws {
        var signers = try await judge(layer, header: header, protected: protected)
        for index in signers.indices {
            signers[index].section = section.map { $0.map(String.init).joined(separator: ".") }
        }
        result.report.add(layer.layer, signers: signers, isPart: coverage == .part)
        let told = Set(result.report.problems)
        result.report.note(layer.defects.filter { !told.contains($0) })
        guard !signers.isEmpty else {
            result.report.hasOnlyCertificates = layer.onlyBringsCertificates && coverage == .whole
            return
        }
        result.report.noteInnerSignature()
        result.report.coverage = coverage
        result.content = result.content ?? layer.signedBytes
    }

    /// The signers of one layer, judged.
    func judge(
        _ layer: SignedLayer,
        header: HeaderBlock?,
        protected: ProtectedHeader? = nil
    ) async throws -> [VerificationReport.Signer] {
        let known = try await provider.certificates(for: layer.signerIdentifiers)
        let validator = PathValidator(try await provider.trust(for: layer.certificates + known))
        let options = options ?? validator.store.options
        let exceptions = try await exceptions.union(provider.exceptions())
        func verify(_ options: ValidationOptions) -> [VerificationReport.Signer] {
            layer.verify(
                by: validator.judging(by: options),
                known: known,
                header: header,
                protected: protected,
                exceptions: exceptions,
                at: time
            )
        }
        let signers = verify(options)
        guard revocation != nil, options.revocation != .off else { return signers }
        // Revocation services are not asked about certificates of invalid signatures.
        var seen: Set<Certificate> = []
        let certificates = signers.filter { $0.integrity.holds }.compactMap(\.certificate)
        let chains = certificates.filter { seen.insert($0).inserted }.map {
            layer.chain(of: $0, by: validator.judging(by: options), at: time)
        }
        let asked = await options.asking(revocation, about: chains, at: time)
        return asked == options ? signers : verify(asked)
    }
}
