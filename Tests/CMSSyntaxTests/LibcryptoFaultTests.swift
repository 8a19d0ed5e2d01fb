import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import Testing

@Suite struct LibcryptoFaultTests {
    private func faults(_ major: Int, minor: Int, patch: Int) -> [String] {
        LibcryptoFault.known(in: LibcryptoFault.Version(major, minor: minor, patch: patch)).map(\.identifier)
    }

    @Test func `a libcrypto version has the faults that a later version of its series fixed`() {
        #expect(faults(3, minor: 0, patch: 6).contains("CVE-2022-3602"))
        #expect(faults(3, minor: 0, patch: 6).count == 11)
        #expect(faults(3, minor: 0, patch: 8).contains("CVE-2023-0465"))
        #expect(
            faults(3, minor: 1, patch: 0).contains("CVE-2023-0465")
                && !faults(3, minor: 1, patch: 1).contains("CVE-2023-0465")
        )
        #expect(faults(3, minor: 0, patch: 14) == ["CVE-2024-6119", "CVE-2024-13176", "CVE-2026-63072"])
        #expect(faults(3, minor: 0, patch: 21) == ["CVE-2026-63072"])
        #expect(faults(3, minor: 0, patch: 22).isEmpty)
        #expect(faults(3, minor: 2, patch: 2) == ["CVE-2024-6119", "CVE-2024-13176"])
        #expect(faults(3, minor: 5, patch: 0).isEmpty)
    }

    @Test func `the version number agrees with the version text`() {
        #expect(
            Libcrypto.version.contains(" \(Libcrypto.versionNumber) ")
                || Libcrypto.version.contains("\(Libcrypto.versionNumber)-")
        )
    }
}

/// The probe tests libcrypto's behaviour, and reports use its result.
@Suite struct LibcryptoProbeTests {
    @Test(arguments: LibcryptoProbe.all.map(\.code))
    func `the loaded libcrypto passes every probe`(code: String) throws {
        let probe = try #require(LibcryptoProbe.all.first { $0.code == code })
        let outcome = probe.run()
        guard case .passed(let text) = outcome else {
            Issue.record("\(code): \(outcome)")
            return
        }
        #expect(!text.isEmpty)
        // A probe leaves no state that would change the next result.
        #expect(probe.run() == outcome)
    }

    @Test func `every probe has its own code`() {
        #expect(Set(LibcryptoProbe.all.map(\.code)).count == LibcryptoProbe.all.count)
    }

    @Test func `a probe that cannot run is distinguished from a failed one`() {
        let probe = LibcryptoProbe("x") { throw CMSError.noKeyPair }
        guard case .untried = probe.run() else {
            Issue.record("\(probe.run())")
            return
        }
    }
}
