import Foundation
import TestSupport
import Testing

/// Every class of hostile message, through the command as it is used, against the verdict it must get.
///
/// With SMIME_TEST_TABLE set, the table of cases is printed.
@Suite struct HostileTests {
    @Test(arguments: SignedCases.all)
    func `signed data`(_ item: HostileCase) throws { try check(item) }

    @Test(arguments: MIMECases.all)
    func `MIME around it`(_ item: HostileCase) throws { try check(item) }

    @Test(arguments: IdentityCases.all)
    func `who signed`(_ item: HostileCase) throws { try check(item) }

    @Test(arguments: ChainCases.all)
    func `chain and time`(_ item: HostileCase) throws { try check(item) }

    @Test(arguments: DecryptionCases.all)
    func decryption(_ item: HostileCase) throws { try check(item) }

    private func check(_ item: HostileCase) throws {
        let (line, complaints) = try Bench.shared.get().judge(item)
        if ProcessInfo.processInfo.environment["SMIME_TEST_TABLE"] != nil { print("hostile: \(line)") }
        guard !complaints.isEmpty else { return }
        Issue.record(Comment(rawValue: "\(complaints.joined(separator: ", ")): \(line)"))
    }
}
