import CMS
import Testing

@Suite struct LibcryptoFaultTests {
    private func faults(_ major: Int, _ minor: Int, _ patch: Int) -> [String] {
        LibcryptoFault.known(in: LibcryptoFault.Version(major, minor, patch)).map(\.identifier)
    }

    @Test func `a version has the faults that were mended after it, in its own series`() {
        #expect(faults(3, 0, 6).contains("CVE-2022-3602"))
        #expect(faults(3, 0, 6).count == 6)
        #expect(faults(3, 0, 14) == ["CVE-2024-6119", "CVE-2026-63072"])
        #expect(faults(3, 0, 21) == ["CVE-2026-63072"])
        #expect(faults(3, 0, 22).isEmpty)
        #expect(faults(3, 2, 2) == ["CVE-2024-6119"])
        #expect(faults(3, 5, 0).isEmpty)
    }

    @Test func `the number of the version is the one in its name`() {
        #expect(
            Libcrypto.version.contains(" \(Libcrypto.versionNumber) ")
                || Libcrypto.version.contains("\(Libcrypto.versionNumber)-")
        )
    }
}
