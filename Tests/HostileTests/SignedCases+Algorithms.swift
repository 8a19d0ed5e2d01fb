import Foundation

extension SignedCases {
    /// Digests and signature algorithms: weak, inconsistent and good ones.
    static let algorithms = [
        HostileCase("sig-md5", .reject(1, ["digest-md5"])) {
            try detached {
                $0.signers[0].digest = "MD5"
                $0.digestAlgorithms = [OID.digest("MD5")]
            }
        },
        HostileCase("sig-sha1", .reject(1, ["digest-sha1"])) {
            try detached {
                $0.signers[0].digest = "SHA1"
                $0.digestAlgorithms = [OID.digest("SHA1")]
            }
        },
        HostileCase("sig-digest-confusion-sha1-claimed", .reject(1)) {
            try detached { $0.signers[0].claimedDigest = OID.digest("SHA1") }
        },
        HostileCase("sig-digest-confusion-algorithm", .reject(1, ["digest-mismatch"])) {
            try detached {
                $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid("1.2.840.113549.1.1.13"), TLV.null)
            }
        },
        HostileCase("sig-digest-unknown", .reject(1, ["algorithm-unsupported"])) {
            try detached { $0.signers[0].claimedDigest = TLV.sequence(TLV.oid("1.2.3.4.5")) }
        },
        HostileCase("sig-signature-algorithm-unknown", .reject(1)) {
            try detached { $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid("1.2.3.4.5"), TLV.null) }
        },
        HostileCase("sig-algorithm-of-other-kind", .reject(1)) {
            try detached { $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid("1.2.840.10045.4.3.2")) }
        },
        HostileCase("sig-digest-not-announced", .warn(["digest-not-announced"])) {
            try detached { $0.digestAlgorithms = [OID.digest("SHA512")] }
        },
        HostileCase("sig-no-digest-announced", .warn(["digest-not-announced"])) {
            try detached { $0.digestAlgorithms = [] }
        },
        HostileCase("sig-rsa-1024", .reject(1, ["weak-key"])) {
            try detached(by: Result { try Person("weak") }, from: "weak@example.com")
        },
        HostileCase("sig-sha384", .accept) {
            try detached {
                $0.signers[0].digest = "SHA384"
                $0.digestAlgorithms = [OID.digest("SHA384")]
            }
        },
        HostileCase("sig-sha512", .accept) {
            try detached {
                $0.signers[0].digest = "SHA512"
                $0.digestAlgorithms = [OID.digest("SHA512")]
            }
        },
        HostileCase("sig-pss", .accept) {
            try detached {
                $0.signers[0].padding = .pss
                $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid(OID.rsaPSS), PSS.parameters())
            }
        },
        HostileCase("sig-pss-wrong-salt-length", .reject(1)) {
            try detached {
                $0.signers[0].padding = .pss
                $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid(OID.rsaPSS), PSS.parameters(saltLength: 20))
            }
        },
        HostileCase("sig-pss-other-digest", .reject(1)) {
            try detached {
                $0.signers[0].padding = .pss
                $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid(OID.rsaPSS), PSS.parameters("SHA512"))
            }
        },
        HostileCase("sig-pss-hash-twice", .reject(1)) { try pss(PSS.fields().prefix(1) + PSS.fields()) },
        HostileCase("sig-pss-unordered", .reject(1)) { try pss(PSS.fields().reversed()) },
        HostileCase("sig-pss-unknown-field", .reject(1)) { try pss(PSS.fields() + [TLV.explicit(4, TLV.integer(1))]) },
        HostileCase("sig-pss-two-values", .reject(1)) {
            try pss(PSS.fields().prefix(2) + [TLV.explicit(2, TLV.integer(32), TLV.integer(32))])
        },
        HostileCase("sig-ecdsa", .accept) {
            try detached(by: Person.carol, from: "carol@example.com") { $0.signers[0].useECDSA() }
        },
        HostileCase("sig-ed25519", .accept) {
            try detached(by: Result { try Person("dana") }, from: "dana@example.com") {
                $0.signers[0].digest = "SHA512"
                $0.digestAlgorithms = [OID.digest("SHA512")]
                $0.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid("1.3.101.112"))
                $0.signers[0].padding = .none
            }
        },
    ]

    /// A mail signed with RSASSA-PSS, whose parameters consist of `fields`.
    private static func pss(_ fields: [[UInt8]]) throws -> [UInt8] {
        try detached {
            $0.signers[0].padding = .pss
            $0.signers[0].signatureAlgorithm = TLV.sequence(
                TLV.oid(OID.rsaPSS),
                TLV.sequence(fields.flatMap { $0 })
            )
        }
    }
}

extension SignerForge {
    /// Signs with ECDSA.
    mutating func useECDSA() {
        padding = .none
        signatureAlgorithm = TLV.sequence(TLV.oid("1.2.840.10045.4.3.2"))
    }
}

/// `RSASSA-PSS-params`.
enum PSS {
    static func parameters(_ digest: String = "SHA256", saltLength: Int = 32) -> [UInt8] {
        TLV.sequence(fields(digest, saltLength: saltLength).flatMap { $0 })
    }

    static func fields(_ digest: String = "SHA256", saltLength: Int = 32) -> [[UInt8]] {
        [
            TLV.explicit(0, OID.digest(digest)),
            TLV.explicit(1, TLV.sequence(TLV.oid("1.2.840.113549.1.1.8"), OID.digest(digest))),
            TLV.explicit(2, TLV.integer(saltLength)),
        ]
    }
}
