import Foundation
import TestSupport

/// PKCS#12 files; each case is imported into its own store.
enum PKCS12Cases {
    struct Case: Sendable, CustomStringConvertible {
        let name: String
        let expected: Expectation
        var password = "test"
        let bytes: @Sendable () throws -> [UInt8]

        var description: String { name }

        init(
            _ name: String,
            _ expected: Expectation,
            password: String = "test",
            _ bytes: @escaping @Sendable () throws -> [UInt8]
        ) {
            self.name = "p12-\(name)"
            self.expected = expected
            self.password = password
            self.bytes = bytes
        }
    }

    private static func file(_ name: String) -> @Sendable () throws -> [UInt8] {
        { try Fixtures.cert("p12-cases/\(name).p12") }
    }

    static let all = refused + doubtful + harmless + made

    private static let refused = [
        Case("wrong-password", .reject(77), password: "wrong", file("modern")),
        Case("wrong-password-legacy", .reject(77), password: "wrong", file("legacy-3des")),
        Case("password-with-blank", .reject(77), password: "test ", file("modern")),
        Case("password-other-case", .reject(77), password: "TEST", file("modern")),
        Case("password-empty", .reject(77), password: "", file("modern")),
        Case("iteration-bomb", .reject(65), file("iteration-bomb")),
        Case("mismatched-key", .reject(65), file("mismatched-key")),
        Case("key-only", .reject(65), file("key-only")),
        Case("cert-only", .reject(65), file("cert-only")),
        Case("truncated", .reject(65), file("truncated")),
        Case("garbage", .reject(65), file("garbage")),
        Case("empty", .reject(65), file("empty")),
    ]

    private static let doubtful = [
        Case("no-mac", .warn(["pkcs12-no-mac"]), file("no-mac")),
        Case("trailing-bytes", .warn(["pkcs12-trailing-bytes"]), file("trailing-bytes")),
        Case("expired", .warn) { try Fixtures.cert("expired/expired.p12") },
    ]

    private static let harmless = [
        Case("empty-password", .accept, password: "", file("empty-password")),
        Case("absent-password", .accept, password: "", file("absent-password")),
        Case("unicode-password", .accept, password: "Пароль-žluť-😀", file("utf8-password")),
        Case(
            "unicode-password-decomposed",
            .accept,
            password: "Пароль-žluť-😀".decomposedStringWithCanonicalMapping,
            file("utf8-password")
        ),
        Case("rc2-40", .accept, file("legacy-rc2")),
        Case("3des", .accept, file("legacy-3des")),
        Case("one-iteration", .accept, file("one-iteration")),
        Case("two-identities", .accept, file("two-identities")),
        Case("chain-first", .accept, file("chain-first")),
        Case("indefinite-length", .accept, file("indefinite-length")),
        Case("pem-armoured", .accept, file("pem-armoured")),
        Case("friendly-name", .accept, file("friendly-name")),
        Case("unencrypted", .accept, file("unencrypted")),
        Case("several-keys", .accept) { try Fixtures.cert("split/split.p12") },
    ]

    private static let made = [
        Case("hostile-friendly-name", .accept) {
            try Bags.file([
                Bags.key("alice"), Bags.certificate("alice", friendlyName: "\u{1B}[2J\r\nsmime: error\u{202E}"),
            ])
        },
        Case("friendly-name-with-nul", .accept) {
            try Bags.file([Bags.key("alice"), Bags.certificate("alice", friendlyName: "a\0b")])
        },
        Case("key-of-another-person-too", .warn) {
            try Bags.file([Bags.key("alice"), Bags.certificate("alice"), Bags.key("bob")])
        },
        Case("only-a-key", .reject(65)) { try Bags.file([Bags.key("alice")]) },
        Case("only-certificates", .reject(65)) { try Bags.file([Bags.certificate("alice"), Bags.certificate("bob")]) },
        Case("mismatch", .reject(65)) { try Bags.file([Bags.key("alice"), Bags.certificate("bob")]) },
        Case("no-bags", .reject(65)) { try Bags.file([]) },
        Case("1000-certificates", .accept) {
            try Bags.file([Bags.key("alice")] + Array(repeating: Bags.certificate("alice"), count: 1000))
        },
        Case("1001-certificates", .reject(65)) {
            try Bags.file([Bags.key("alice")] + Array(repeating: Bags.certificate("alice"), count: 1001))
        },
        Case("mac-of-2-million-iterations-and-more", .reject(65)) {
            try Bags.file([Bags.key("alice"), Bags.certificate("alice")], macIterations: 2_000_001)
        },
        Case("pbmac1-of-many-blocks", .reject(65)) {
            // 600,000 iterations of PBKDF2, each run seven times.
            let mac = Bags.pbmac1(keyLength: 128, iterations: 600_000, digest: 7)
            return try Bags.file([Bags.key("alice"), Bags.certificate("alice")], macAlgorithm: mac)
        },
        Case("pbmac1-with-short-key", .reject) {
            try Bags.file([Bags.key("alice"), Bags.certificate("alice")], macAlgorithm: Bags.pbmac1(keyLength: 16))
        },
        Case("pbmac1-without-key-length", .reject) {
            try Bags.file([Bags.key("alice"), Bags.certificate("alice")], macAlgorithm: Bags.pbmac1(keyLength: nil))
        },
        Case("pbmac1-wrong-value", .reject(77)) {
            try Bags.file([Bags.key("alice"), Bags.certificate("alice")], macAlgorithm: Bags.pbmac1(keyLength: 32))
        },
    ]
}

/// Unencrypted PKCS#12 files assembled by hand.
enum Bags {
    private static let rsadsi = "1.2.840.113549"

    static func key(_ name: String) throws -> [UInt8] { bag(1, try PEMFile.blocks("\(name)/key.pem")[0]) }

    static func certificate(_ name: String, friendlyName: String? = nil) throws -> [UInt8] {
        let certificate = try PEMFile.blocks("\(name)/cert.pem")[0]
        let value = TLV.sequence(TLV.oid("\(rsadsi).1.9.22.1"), TLV.explicit(0, TLV.octets(certificate)))
        let attributes = friendlyName.map { name in
            let units = name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            return TLV.set([TLV.sequence(TLV.oid("\(rsadsi).1.9.20"), TLV.set([TLV.element(0x1E, units)]))])
        }
        return bag(3, value, attributes: attributes ?? [])
    }

    private static func bag(_ type: Int, _ value: [UInt8], attributes: [UInt8] = []) -> [UInt8] {
        TLV.sequence(TLV.oid("\(rsadsi).1.12.10.1.\(type)"), TLV.explicit(0, value), attributes)
    }

    /// A PBMAC1 algorithm (RFC 9579) with PBKDF2. `digest` is the last number of the HMAC's OID: 9 for SHA-256, 7 for SHA-1.
    static func pbmac1(keyLength: Int?, iterations: Int = 2048, digest: Int = 9) -> [UInt8] {
        let hmac = TLV.sequence(TLV.oid("\(rsadsi).2.\(digest)"), TLV.null)
        let derivation = TLV.sequence(
            TLV.oid("\(rsadsi).1.5.12"),
            TLV.sequence(
                TLV.octets([1, 2, 3, 4, 5, 6, 7, 8]),
                TLV.integer(iterations),
                keyLength.map { TLV.integer($0) } ?? [],
                hmac
            )
        )
        return TLV.sequence(TLV.oid("\(rsadsi).1.5.14"), TLV.sequence(derivation, hmac))
    }

    /// A PFX with these bags. It has no MAC unless iterations or an algorithm are given; then the MAC is wrong.
    static func file(_ bags: [[UInt8]], macIterations: Int? = nil, macAlgorithm: [UInt8]? = nil) throws -> [UInt8] {
        func data(_ contents: [UInt8]) -> [UInt8] {
            TLV.sequence(TLV.oid(OID.data), TLV.explicit(0, TLV.octets(contents)))
        }
        let safe = data(TLV.sequence(data(TLV.sequence(bags.flatMap { $0 }))))
        var mac: [UInt8] = []
        if macIterations != nil || macAlgorithm != nil {
            let info = TLV.sequence(macAlgorithm ?? OID.digest("SHA256"), TLV.octets([UInt8](repeating: 1, count: 32)))
            mac = TLV.sequence(info, TLV.octets([1, 2, 3, 4, 5, 6, 7, 8]), TLV.integer(macIterations ?? 1))
        }
        return TLV.sequence(TLV.integer(3), safe, mac)
    }
}
