import Foundation
import PKIX
import TestSupport
import Testing

/// All signers of a message are judged by one validator, whose budget they share.
@Suite struct SharedBudgetTests {
    private static func curve(_ name: String) -> String { "EC -pkeyopt ec_paramgen_curve:\(name)" }

    /// Authorities named root, ca1 and so on to `depth`, each below the one before, and people below the last one.
    private func makeChain(curve: String, depth: Int, people: Int) throws -> CertificateFactory {
        var factory = try CertificateFactory()
        let key = Self.curve(curve)
        var last = "root"
        try factory.issue(last, subject: "/CN=Root", key: key, extensions: CertificateFactory.authority)
        for level in 1...depth {
            let name = "ca\(level)"
            try factory.issue(
                name,
                subject: "/CN=\(name)",
                by: last,
                key: key,
                extensions: CertificateFactory.authority
            )
            last = name
        }
        for number in 1...people {
            let extensions = CertificateFactory.person("a\(number)@example.com")
            try factory.issue("leaf\(number)", subject: "/CN=\(number)", by: last, key: key, extensions: extensions)
        }
        return factory
    }

    @Test func `sixteen signers with keys on P-384, and lists of their authorities, are all judged`() throws {
        let factory = try makeChain(curve: "P-384", depth: 2, people: 16)
        var store = TrustStore(anchors: [try factory.certificate("root")])
        store.intermediates = [try factory.certificate("ca1"), try factory.certificate("ca2")]
        for issuer in ["root", "ca1", "ca2"] {
            try factory.revoke([], by: issuer, to: "list")
            store.certificateLists.append(try CertificateList(der: factory.bytes("list.crl")))
        }
        let validator = PathValidator(store)
        for number in 1...16 {
            let leaf = try factory.certificate("leaf\(number)")
            let date = leaf.notBefore.addingTimeInterval(2 * 86_400)
            let verdict = validator.judge(leaf, purpose: .signing, at: date)
            #expect(verdict.isTrusted && verdict.problems.isEmpty, "signer \(number): \(verdict.problems)")
            #expect(verdict.revocation?.status == .good, "signer \(number)")
        }
    }

    @Test func `signers with long chains of slow keys use up the budget of one validator`() throws {
        let factory = try makeChain(curve: "sect571k1", depth: 10, people: 12)
        var store = TrustStore(anchors: [try factory.certificate("root")])
        store.intermediates = try (1...10).map { try factory.certificate("ca\($0)") }
        let leaves = try (1...12).map { try factory.certificate("leaf\($0)") }
        let date = leaves[11].notBefore.addingTimeInterval(60)
        func judge(_ leaf: Certificate, _ validator: PathValidator) -> ChainVerdict {
            validator.judge(leaf, purpose: .signing, at: date)
        }
        let validator = PathValidator(store)
        let verdicts = leaves.map { judge($0, validator) }
        #expect(verdicts[0].isTrusted)
        #expect(verdicts.contains { !$0.isTrusted })
        // Alone, each of them is judged.
        #expect(judge(leaves[11], PathValidator(store)).isTrusted)
    }
}
