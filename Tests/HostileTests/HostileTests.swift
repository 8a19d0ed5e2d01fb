import Foundation
import TestSupport
import Testing

/// Every class of hostile message, tested through the command.
///
/// If SMIME_TEST_TABLE is set, the table of cases is printed.
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

    @Test func `the table in README.md names existing cases and files`() throws {
        let folder = Fixtures.root.appending(path: "Tests")
        let page = try String(contentsOf: folder.appending(path: "HostileTests/README.md"), encoding: .utf8)
        let groups = [SignedCases.all, MIMECases.all, IdentityCases.all, ChainCases.all, DecryptionCases.all]
        let names = groups.flatMap { $0 }.map(\.name)
        var seen = 0
        for match in page.matches(of: /`((?:sig|mime|id|chain|dec)-[a-z0-9*-]*)`/) {
            let pattern = String(match.output.1)
            seen += 1
            #expect(names.contains { fnmatch(pattern, $0, 0) == 0 }, "\(pattern)")
        }
        #expect(seen > 40)
        for match in page.matches(
            of:
                /(?:([A-Za-z0-9]+Tests)\/)?(?:(Transcripts|Problems)\/)?([A-Z][A-Za-z0-9+]*(?:Tests|Cases)(?:\+[A-Za-z]+)?)\b(?!\/)/
        ) {
            let parts = [match.output.1, match.output.2].compactMap { $0.map(String.init) }
            let path = (parts.isEmpty ? ["HostileTests"] : parts).joined(separator: "/") + "/\(match.output.3).swift"

            #expect(FileManager.default.fileExists(atPath: folder.appending(path: path).path), "\(path)")
        }
    }

    private func check(_ item: HostileCase) throws {
        let (line, complaints) = try Harness.shared.get().judge(item)
        if ProcessInfo.processInfo.environment["SMIME_TEST_TABLE"] != nil { print("hostile: \(line)") }
        guard !complaints.isEmpty else { return }
        Issue.record(Comment(rawValue: "\(complaints.joined(separator: ", ")): \(line)"))
    }
}
