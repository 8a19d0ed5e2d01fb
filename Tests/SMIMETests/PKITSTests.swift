import ByteStreams
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

/// NIST's public key interoperability test suite, as signed mail: every case with revocation checking and with the policy
/// settings that its documentation requires.
@Suite struct PKITSTests {
    /// A case with one setting.
    struct Case: Sendable, CustomTestStringConvertible {
        let item: Corpus.Case
        let setting: Setting
        let isValid: Bool

        var name: String { PKITSTests.name(of: item) }
        var testDescription: String { "\(name) \(setting)" }
    }

    /// The inputs of path validation in a case. PKITS numbers its policies.
    enum Setting: Sendable, CustomStringConvertible {
        case standard
        case explicit
        case policy(Int)
        case withoutAnyPolicy

        var policies: CertificatePolicies {
            switch self {
            case .standard: CertificatePolicies()
            case .explicit: CertificatePolicies(isExplicit: true)
            case .policy(let number): CertificatePolicies(acceptable: ["2.16.840.1.101.3.2.1.48.\(number)"])
            case .withoutAnyPolicy: CertificatePolicies(inhibitsAnyPolicy: true)
            }
        }

        var description: String {
            switch self {
            case .standard: "by default"
            case .explicit: "with an explicit policy"
            case .policy(let number): "for policy \(number)"
            case .withoutAnyPolicy: "without anyPolicy"
            }
        }
    }

    /// The expected results that are only in the documentation: cases without an entry in the index, or with further
    /// settings.
    private static let book: [String: [(Setting, Bool)]] = [
        "AllCertificatesNoPoliciesTest2": [(.standard, true), (.explicit, false)],
        "AllCertificatesSamePoliciesTest10": [(.standard, true), (.policy(1), true), (.policy(2), true)],
        "AllCertificatesSamePoliciesTest13": [(.policy(1), true), (.policy(2), true), (.policy(3), true)],
        "DifferentPoliciesTest12": [(.standard, false)],
        "DifferentPoliciesTest5": [(.standard, false)],
        "DifferentPoliciesTest8": [(.standard, false)],
        "OverlappingPoliciesTest6": [(.standard, true), (.policy(1), true), (.policy(2), false)],
        "UserNoticeQualifierTest16": [(.standard, true)],
        "UserNoticeQualifierTest17": [(.standard, true)],
        "UserNoticeQualifierTest18": [(.policy(1), true), (.policy(2), true)],
        "UserNoticeQualifierTest19": [(.standard, true)],
        "ValidPolicyMappingTest12": [(.policy(1), true), (.policy(2), true)],
        "ValidPolicyMappingTest6": [(.policy(1), true), (.policy(6), false)],
        "ValidcRLIssuerTest30": [(.standard, true)],
        "inhibitAnyPolicyTest3": [(.standard, true), (.withoutAnyPolicy, false)],
    ]

    static let cases: [Case] = {
        guard let items = try? Corpus.cases("verify") else { return [] }
        return items.filter { $0.set == "pkits" }.flatMap { item in
            let name = name(of: item)
            let settings = book[name] ?? [(.standard, !name.hasPrefix("Invalid"))]
            return settings.map { Case(item: item, setting: $0.0, isValid: $0.1) }
        }
    }()

    private static func name(of item: Corpus.Case) -> String {
        String(item.file.dropFirst("pkits/Signed".count).dropLast(".eml".count))
    }

    @Test func `every PKITS case has its expected verdict`() async throws {
        var right = 0
        for test in Self.cases {
            let report = try await verify(test)
            let faults = Self.faults(report)
            #expect(faults.isEmpty == test.isValid, "\(test.testDescription): \(faults)")
            if faults.isEmpty == test.isValid { right += 1 }
            let verdict = faults.isEmpty ? "valid" : faults.joined(separator: ", ")
            print("pkits: \(test.isValid ? "valid  " : "invalid") \(test.testDescription): \(verdict)")
        }
        print("pkits: \(right) of \(Self.cases.count) right, \(Set(Self.cases.map(\.name)).count) messages")
    }

    private func verify(_ test: Case) async throws -> VerificationReport {
        let options = ValidationOptions(revocation: .hard, policies: test.setting.policies)
        let opener = MessageOpener(
            try Keyring(test.item.needs),
            at: Date(timeIntervalSince1970: 1_790_000_000),
            options: options
        )
        return try await opener.verify(MemorySource(Fixtures.corpus(test.item.file))).report
    }

    /// The errors of a path, without those that the suite does not test: certificates without an address, and mail signed by
    /// an authority.
    private static func faults(_ report: VerificationReport) -> [String] {
        guard !report.signers.isEmpty else { return ["no signer"] }
        let axes = report.signers.flatMap { [$0.integrity, $0.chain, $0.revocation, $0.time] }
        return axes.flatMap(\.problems).filter { $0.level == .error && $0.kind != .endEntityIsCA }.map(\.code)
    }
}
