import Foundation

/// Differently encoded certificates, several certificates for one key, and differently encoded names.
extension ChainCases {
    /// A mail signed with bob's key. `change` replaces the bytes of the certificates, of which the signer's is the first.
    private static func signed(
        byKeyIdentifier: Bool = false,
        _ change: (inout [[UInt8]], CertificateForge) throws -> Void
    ) throws -> [UInt8] {
        let key = try Person.bob.get().key
        let forge = CertificateForge(key)
        let person = try forge.person(key, below: Authority.trusted.get())
        return try SignedCases.detached(by: .success(person)) {
            if byKeyIdentifier { $0.signers[0].useKeyIdentifier() }
            try change(&$0.certificates, forge)
        }
    }

    /// A certificate has only one valid encoding; another one would have another fingerprint.
    static let reencoded = [
        HostileCase("chain-certificate-of-indefinite-length", .reject(1, ["signer-certificate-missing"])) {
            try signed { certificates, _ in
                certificates[0] = TLV.indefinite(0x30, TLV.contents(certificates[0]))
            }
        },
        HostileCase("chain-certificate-of-long-length", .reject(1, ["signer-certificate-missing"])) {
            try signed { certificates, _ in
                let contents = TLV.contents(certificates[0])
                certificates[0] = [0x30, 0x83, 0, UInt8(contents.count >> 8), UInt8(contents.count & 255)] + contents
            }
        },
        HostileCase("chain-certificate-with-more-behind", .reject(1, ["signer-certificate-missing"])) {
            try signed { certificates, _ in
                certificates[0] = TLV.rebuild(certificates[0]) { $0.append(TLV.null) }
            }
        },
        HostileCase("chain-certificate-with-signature-in-pieces", .reject(1, ["signer-certificate-missing"])) {
            try signed { certificates, _ in
                certificates[0] = TLV.rebuild(certificates[0]) { $0[2] = TLV.element(0x23, $0[2]) }
            }
        },
        HostileCase("chain-key-usage-without-bits", .reject(1, ["chain-invalid"])) {
            try leaf { $0.keyUsage = Extension.make("2.5.29.15", isCritical: true, TLV.element(0x03, [0])) }
        },
        HostileCase("chain-negative-path-length", .reject(1, ["chain-invalid"])) {
            let negative = TLV.sequence(TLV.yes, TLV.element(0x02, [0xFF]))
            return try leaf(
                below: authority { $0.basicConstraints = Extension.make("2.5.29.19", isCritical: true, negative) }
            )
        },
        HostileCase("chain-excluded-mailbox-in-capitals", .reject(1, ["chain-name-constraints"])) {
            try leaf(below: constrained(excluded: [Name.mailbox("alice@example.com")])) {
                $0.names = [Name.mailbox("Alice@example.com")]
            }
        },
        HostileCase("chain-excluded-mailbox-in-quotes", .reject(1, ["chain-name-constraints"])) {
            try leaf(below: constrained(excluded: [Name.mailbox("alice@example.com")])) {
                $0.names = [Name.mailbox(#""ali\ce"@example.com"#)]
            }
        },
        HostileCase("chain-excluded-mailbox-in-utf-8", .reject(1, ["chain-name-constraints"])) {
            try leaf(below: constrained(excluded: [Name.mailbox("ALICE@example.com")])) {
                $0.names = [Name.smtpUTF8("alice@example.com")]
            }
        },
        HostileCase("chain-excluded-mailbox-in-the-name", .reject(1, ["chain-name-constraints"])) {
            try leaf(below: constrained(excluded: [Name.mailbox("alice@example.com")])) {
                $0.names = []
                $0.subject = Name.withAddress("ALICE@example.com")
            }
        },
        HostileCase("chain-excluded-host-in-u-labels", .reject(1, ["chain-name-constraints"])) {
            try leaf(below: constrained(excluded: [Name.mailbox("a@xn--e1afmkfd.com")]), from: "a@xn--e1afmkfd.com") {
                $0.names = [Name.smtpUTF8("a@пример.com")]
            }
        },
    ]

    /// If several certificates match the signer, the best one determines the verdict, whatever its position.
    static let chosen = [
        HostileCase("chain-expired-one-of-the-key-first", .accept) {
            try signed(byKeyIdentifier: true) { certificates, forge in
                var old = forge
                (old.notBefore, old.notAfter) = ("20200101000000Z", "20201231235959Z")
                certificates.insert(try old.signed(by: Authority.trusted.get()), at: 0)
            }
        },
        HostileCase("chain-forged-one-of-the-key-first", .accept) {
            try signed(byKeyIdentifier: true) { certificates, forge in
                let name = try Authority.trusted.get().name
                let forged = Authority(name: name, key: try Person.alice.get().key, chain: [])
                certificates.insert(try forge.signed(by: forged), at: 0)
            }
        },
        HostileCase("chain-encryption-only-one-of-the-key-first", .accept) {
            try signed(byKeyIdentifier: true) { certificates, forge in
                var other = forge
                other.keyUsage = Extension.keyUsage([2])
                certificates.insert(try other.signed(by: Authority.trusted.get()), at: 0)
            }
        },
        HostileCase("chain-damaged-copy-first", .accept) {
            try signed { certificates, _ in
                var copy = certificates[0]
                copy[copy.count - 1] ^= 1
                certificates.insert(copy, at: 0)
            }
        },
    ]
}
