import LibCrypto
import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LibcryptoProbe {
    /// Tests how libcrypto verifies certificate chains. One test is for CVE-2023-0465: OpenSSL before 3.0.9 and 3.1.1
    /// accepted invalid policies in a leaf certificate.
    static let chains = [
        chain("sound-chain", finds: nil, passed: "a valid chain is accepted", failed: "a valid chain is refused"),
        chain(
            "name-constraints",
            authority: [
                FreshCertificate.Extension(
                    "2.5.29.30",
                    [0x30, 0x11, 0xA0, 0x0F, 0x30, 0x0D, 0x81, 0x0B] + Array("example.org".utf8)
                )
            ],
            leaf: [FreshCertificate.Extension("2.5.29.17", [0x30, 0x0D, 0x81, 0x0B] + Array("a@evil.test".utf8))],
            finds: .notPermitted,
            passed: "an address that the name constraints forbid is refused",
            failed: "an address that the name constraints forbid is not refused"
        ),
        chain(
            "critical-extension",
            leaf: [FreshCertificate.Extension("1.2.3.4", [0x05, 0x00], isCritical: true)],
            finds: .unknownCriticalExtension,
            passed: "an unknown critical extension is refused",
            failed: "an unknown critical extension is not refused"
        ),
        chain(
            "leaf-as-authority",
            isAuthority: false,
            finds: .invalidCA,
            passed: "an issuer that is not an authority is refused",
            failed: "an issuer that is not an authority is not refused"
        ),
        chain(
            "certificate-policies",
            leaf: [
                FreshCertificate.Extension(
                    "2.5.29.32",
                    [0x30, 0x0E, 0x30, 0x05, 6, 3, 0x2A, 3, 4, 0x30, 0x05, 6, 3, 0x2A, 3, 4]
                )
            ],
            finds: .invalidPolicyExtension,
            passed: "wrong certificate policies are refused",
            failed: "wrong certificate policies are not refused (CVE-2023-0465)"
        ),
    ]

    /// - Parameter finds: the error that verification must report; nil for none.
    private static func chain(
        _ code: String,
        isAuthority: Bool = true,
        authority: [FreshCertificate.Extension] = [],
        leaf: [FreshCertificate.Extension] = [],
        finds expected: VerificationCode?,
        passed: String,
        failed: String
    ) -> LibcryptoProbe {
        LibcryptoProbe(code) {
            let constraints: [UInt8] = isAuthority ? [0x30, 3, 1, 1, 0xFF] : [0x30, 0]
            let basic = FreshCertificate.Extension("2.5.29.19", constraints, isCritical: true)
            let chain = try ProbeChain(authority: [basic] + authority, leaf: leaf)
            let codes =
                try PathVerification
                .verify([chain.leaf, chain.authority], at: .now).map(\.code)
            let isRight = expected.map({ codes.contains($0) }) ?? codes.isEmpty
            return isRight ? .passed(passed) : .failed(failed)
        }
    }
}

/// A certificate authority and a certificate that it issued, created for one probe.
struct ProbeChain {
    let leaf, authority: Certificate

    init(authority: [FreshCertificate.Extension], leaf: [FreshCertificate.Extension]) throws {
        let key = try Handle<EVP_PKEY>(generating: .p256)
        func made(_ name: String, _ serial: Int, extensions: [FreshCertificate.Extension]) throws -> Certificate {
            let fresh = FreshCertificate(
                subject: name,
                issuer: "Probe CA",
                serialNumber: serial,
                extensions: extensions
            )
            return try Certificate(der: fresh.signed(by: key))
        }
        self.authority = try made("Probe CA", 1, extensions: authority)
        self.leaf = try made("Probe", 2, extensions: leaf)
    }
}
