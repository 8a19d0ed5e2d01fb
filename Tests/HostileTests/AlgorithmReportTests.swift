import Foundation
import TestSupport
import Testing

/// Reports about digests with which a signature cannot be checked.
@Suite struct AlgorithmReportTests {
    private func verify(_ mail: [UInt8]) throws -> (report: String, codes: [String]) {
        let options = ["verify", "--json", "--no-harvest", "--time", "2026-11-01T12:00:00Z"]
        let result = try Harness.shared.get().run(options, input: mail)
        #expect(result.status == 1, "\(result.status) \(result.errorText)")
        let json = try #require(JSONSerialization.jsonObject(with: Data(result.standardOutput)) as? [String: Any])
        let signer = try #require((json["signers"] as? [[String: Any]])?.first)
        let axis = try #require(signer["integrity"] as? [String: Any] ?? signer["signature"] as? [String: Any])
        let problems = axis["problems"] as? [[String: Any]] ?? []
        return (result.text, problems.compactMap { $0["code"] as? String })
    }

    @Test(arguments: ["SHA1", "SHA256", "SHA384"])
    func `an unsuitable digest with Ed25519 is not reported as an invalid signature`(digest: String) throws {
        let mail = try SignedCases.detached(by: Result { try Person("dana") }, from: "dana@example.com") {
            $0.signers[0].digest = digest
            $0.digestAlgorithms = [OID.digest(digest)]
            $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid("1.3.101.112"))
            $0.signers[0].padding = .none
        }
        let (report, codes) = try verify(mail)
        #expect(codes.contains("digest-mismatch") && !report.contains("signature-invalid"), "\(report)")
    }

    @Test(arguments: ["1.2.3.4.5", "1.3.14.3.2.18"])
    func `an unsupported digest is reported once, by its object identifier`(number: String) throws {
        let mail = try SignedCases.detached { $0.signers[0].claimedDigest = TLV.sequence(TLV.oid(number)) }
        let (report, codes) = try verify(mail)
        #expect(codes == ["algorithm-unsupported"], "\(report)")
        #expect(report.contains("the digest \(number) is not supported"), "\(report)")
    }
}
