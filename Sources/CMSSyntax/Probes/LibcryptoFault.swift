package import LibCrypto

/// A known fault of old libcrypto versions in functions that smime uses.
///
/// Distributions fix faults without changing the version number, so an old number is an indication, not a proof.
package struct LibcryptoFault: Sendable, Equatable {
    /// A release of OpenSSL.
    package struct Version: Sendable, Comparable, CustomStringConvertible {
        /// The three numbers of a version such as 3.0.15.
        package let major, minor, patch: Int

        package init(_ major: Int, minor: Int, patch: Int) {
            (self.major, self.minor, self.patch) = (major, minor, patch)
        }

        package var description: String { "\(major).\(minor).\(patch)" }

        package static func < (a: Self, b: Self) -> Bool {
            (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
        }
    }

    /// The CVE number of the fault, such as `CVE-2022-3602`.
    package let identifier: String
    /// The possible consequence.
    package let text: String
    /// The first fixed release of each series that was fixed.
    let fixedIn: [Version]

    /// All known faults, oldest first.
    static let all = [
        Self(
            identifier: "CVE-2022-3602",
            text: "an address in a certificate can overwrite memory",
            fixedIn: [Version(3, minor: 0, patch: 7)]
        ),
        Self(
            identifier: "CVE-2022-4203",
            text: "comparing a name with name constraints can end the process",
            fixedIn: [Version(3, minor: 0, patch: 8)]
        ),
        Self(
            identifier: "CVE-2023-0286",
            text: "a name in a revocation list can read or overwrite memory",
            fixedIn: [Version(3, minor: 0, patch: 8)]
        ),
        Self(
            identifier: "CVE-2022-4304",
            text: "the time of RSA decryption reveals the padding",
            fixedIn: [Version(3, minor: 0, patch: 8)]
        ),
        Self(
            identifier: "CVE-2023-0464",
            text: "certificate policies can keep verification busy without end",
            fixedIn: [Version(3, minor: 0, patch: 9), Version(3, minor: 1, patch: 1)]
        ),
        Self(
            identifier: "CVE-2023-0465",
            text: "wrong certificate policies in a leaf are ignored",
            fixedIn: [Version(3, minor: 0, patch: 9), Version(3, minor: 1, patch: 1)]
        ),
        Self(
            identifier: "CVE-2023-2650",
            text: "a long object identifier can keep the process busy",
            fixedIn: [Version(3, minor: 0, patch: 9), Version(3, minor: 1, patch: 1)]
        ),
        Self(
            identifier: "CVE-2024-0727",
            text: "a PKCS#12 file can end the process",
            fixedIn: [Version(3, minor: 0, patch: 13), Version(3, minor: 1, patch: 5), Version(3, minor: 2, patch: 1)]
        ),
        Self(
            identifier: "CVE-2024-6119",
            text: "comparing names in a certificate can end the process",
            fixedIn: [
                Version(3, minor: 0, patch: 15), Version(3, minor: 1, patch: 7), Version(3, minor: 2, patch: 3),
                Version(3, minor: 3, patch: 2),
            ]
        ),
        Self(
            identifier: "CVE-2024-13176",
            text: "the time of ECDSA signatures reveals the key",
            fixedIn: [
                Version(3, minor: 0, patch: 16), Version(3, minor: 1, patch: 8), Version(3, minor: 2, patch: 4),
                Version(3, minor: 3, patch: 3), Version(3, minor: 4, patch: 1),
            ]
        ),
        Self(
            identifier: "CVE-2026-63072",
            text: "unwrapping a key can overwrite memory",
            fixedIn: [Version(3, minor: 0, patch: 22)]
        ),
    ]

    /// The faults that `version` has as OpenSSL published it.
    ///
    /// Only series with a fixed release are compared. All other series count as fixed, because newer ones are not in the
    /// table.
    package static func known(in version: Version) -> [LibcryptoFault] {
        all.filter { fault in
            fault.fixedIn.contains { ($0.major, $0.minor) == (version.major, version.minor) && version < $0 }
        }
    }
}

extension Libcrypto {
    /// The version of libcrypto that this process uses.
    package static var versionNumber: LibcryptoFault.Version {
        let number = packedVersion
        return LibcryptoFault.Version(number >> 28 & 0xF, minor: number >> 20 & 0xFF, patch: number >> 4 & 0xFF)
    }
}
