import Foundation
import TestSupport
import Testing

/// Messages made to consume time or memory: the command must answer within bounds and not crash.
@Suite struct BombTests {
    struct Bomb: Sendable, CustomStringConvertible {
        let description: String
        let verbs: [[String]]
        /// Whether the signed content may be valid despite the additional data.
        let isSound: Bool
        let message: @Sendable () throws -> [UInt8]

        init(
            _ name: String,
            verbs: [[String]] = [["verify"], ["decrypt"]],
            isSound: Bool = false,
            _ message: @escaping @Sendable () throws -> [UInt8]
        ) {
            description = name
            self.verbs = verbs
            self.isSound = isSound
            self.message = message
        }
    }

    private static func field(_ name: String, value: String) -> [UInt8] {
        Array("From: alice@example.com\r\n\(name): \(value)\r\n\r\nhi\r\n".utf8)
    }

    private static func p7m(_ object: [UInt8]) -> [UInt8] {
        MailForge().mail(["Content-Type: application/pkcs7-mime", "Content-Transfer-Encoding: binary"], object)
    }

    static let all = [
        Bomb("100,000 nested sequences") {
            var object: [UInt8] = []
            for _ in 0..<100_000 { object += [0x30, 0x80] }
            return p7m(object)
        },
        Bomb("nested definite lengths") {
            var object = [UInt8]()
            for _ in 0..<3000 { object = TLV.element(0x30, object) }
            return p7m(object)
        },
        Bomb("nested octet strings") {
            let head = TLV.oid(OID.signedData) + [0xA0, 0x80, 0x30, 0x80] + TLV.integer(1) + TLV.set([])
            let content = TLV.oid(OID.data) + [0xA0, 0x80]
            return p7m(
                [0x30, 0x80] + head + [0x30, 0x80] + content
                    + [UInt8](repeating: 0, count: 100_000).flatMap { _ in [0x24, 0x80] as [UInt8] }
            )
        },
        Bomb("a giant length") { p7m([0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 6, 9]) },
        Bomb("a length of lengths") { p7m([0x30, 0xFE] + [UInt8](repeating: 0xFF, count: 126)) },
        Bomb("a giant OID") { p7m(TLV.sequence(TLV.element(6, [UInt8](repeating: 0xFF, count: 1 << 20)))) },
        Bomb("100,000 nested multiparts") {
            var text = "From: alice@example.com\r\n"
            for level in 0..<100_000 {
                text += "Content-Type: multipart/mixed; boundary=b\(level)\r\n\r\n--b\(level)\r\n"
            }
            return Array(text.utf8)
        },
        Bomb("100,000 multiparts of one boundary") {
            let text = "From: alice@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
            return Array(
                (text + String(repeating: "--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n", count: 100_000))
                    .utf8
            )
        },
        Bomb("300,000 parts") {
            let text = "From: alice@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
            return Array((text + String(repeating: "--b\r\n\r\n\r\n", count: 300_000)).utf8)
        },
        Bomb("a header line of 10 MiB") { field("Subject", value: String(repeating: "x", count: 10 << 20)) },
        Bomb("a folded header of 10 MiB") { field("Subject", value: String(repeating: "x\r\n ", count: 2 << 20)) },
        Bomb("a million header fields") {
            Array((String(repeating: "X: y\r\n", count: 1_000_000) + "\r\nhi").utf8)
        },
        Bomb("100,000 addresses") {
            let list = (0..<100_000).map { "a\($0)@example.com" }.joined(separator: ",\r\n ")
            var mail = MailForge(from: list)
            mail.header[1] = "To: \(list)"
            return mail.signed(
                MailForge.text,
                signature: try SignedForge(MailForge.text, by: Person.alice.get()).encoded()
            )
        },
        Bomb("30,000 nested comments") {
            let from = String(repeating: "(", count: 30_000) + "alice@example.com"
            return MailForge(from: from).signed(
                MailForge.text,
                signature: try SignedForge(MailForge.text, by: Person.alice.get()).encoded()
            )
        },
        Bomb("50,000 parameters") {
            let parameters = (0..<50_000).map { "p*\($0)=x" }.joined(separator: "; ")
            return field("Content-Type", value: "multipart/signed; \(parameters)")
        },
        Bomb("100,000 encoded words") {
            field("Subject", value: String(repeating: "=?utf-8?q?x?= ", count: 60_000))
        },
        Bomb("1,000 signers") {
            var forge = SignedForge(MailForge.text, by: try Person.alice.get())
            forge.signers = Array(repeating: forge.signers[0], count: 100)
            forge.signers = Array(repeating: forge.signers, count: 10).flatMap { $0 }
            return MailForge().signed(MailForge.text, signature: try forge.encoded())
        },
        Bomb("5,000 certificates") {
            var forge = SignedForge(MailForge.text, by: try Person.alice.get())
            forge.certificates = Array(repeating: try Person.bob.get().certificate, count: 5000)
            return MailForge().signed(MailForge.text, signature: try forge.encoded())
        },
        Bomb("30,000 recipients") {
            var forge = EnvelopedForge(gcm: MailForge.text, to: try Person.alice.get())
            var other = RecipientForge(try Person("encrypt-only"))
            other.wrap = { _ in [UInt8](repeating: 1, count: 256) }
            forge.rawRecipients = Array(repeating: try other.encoded([]), count: 30_000)
            return MailForge().cms(try forge.encoded(), "authenveloped-data")
        },
        Bomb("a flood of blank lines") {
            Array("From: alice@example.com\r\n\r\n".utf8) + [UInt8](repeating: 10, count: 20 << 20)
        },
        Bomb("a flood of blank lines in front") { [UInt8](repeating: 10, count: 20 << 20) },
        Bomb("a flood of dashes") {
            let text = "From: alice@example.com\r\nContent-Type: multipart/mixed; boundary=\"-\"\r\n\r\n"
            return Array(text.utf8) + Array(String(repeating: "--\r\n", count: 3_000_000).utf8)
        },
        Bomb("compressed zeros") {
            // A CompressedData with 1 MiB of a deflate stream that expands to very much more.
            let info = TLV.sequence(
                TLV.oid(OID.data),
                TLV.explicit(0, TLV.octets([0x78, 0x9C] + [UInt8](repeating: 0, count: 1 << 20)))
            )
            let algorithm = TLV.sequence(TLV.oid("1.2.840.113549.1.9.16.3.8"))
            return MailForge().cms(
                TLV.sequence(
                    TLV.oid(OID.compressedData),
                    TLV.explicit(0, TLV.sequence(TLV.integer(0), algorithm, info))
                ),
                "compressed-data"
            )
        },
        Bomb("900 authorities of one name that certify each other, and 16 signers below them") {
            let names = [
                "alice", "alice-old", "cn-only", "dn-only", "encrypt-only", "expired", "future", "idn", "mallory",
                "no-email", "no-usages", "nul-address", "revoked", "san-and-dn", "selfsigned", "several", "sign-only",
                "split",
                "unknown-critical", "wildcard",
            ]
            let keys = try names.map { try Person($0).key }
            let same = Name.common("Same")
            let authorities = keys.map { Authority(name: same, key: $0, chain: []) }
            let certificates = try (0..<900).map { number in
                var forge = CertificateForge(keys[number % keys.count], names: [])
                forge.subject = same
                forge.basicConstraints = Extension.basicConstraints(isAuthority: true)
                forge.keyUsage = Extension.keyUsage([5])
                forge.extendedKeyUsage = nil
                return try forge.signed(by: authorities[number / keys.count % keys.count], ownIdentifier: false)
            }
            var forge = SignedForge(MailForge.text, by: try Person.alice.get())
            forge.signers = try authorities.prefix(16).map { authority in
                let key = try Person.alice.get().key
                return SignerForge(try CertificateForge(key).person(key, below: authority))
            }
            forge.certificates = forge.signers.map(\.person.certificate) + certificates
            return MailForge().signed(MailForge.text, signature: try forge.encoded())
        },
        Bomb("1,000 revocation lists and 32 certificates of one long name, and 16 signers", isSound: true) {
            let parts = (0..<60).map { ("2.5.4.3", TLV.utf8("Ä\($0) xxxxxxxxxxxxxxxx")) }
            let alice = try Person.alice.get()
            let authority = Authority(name: Name.rdns(parts), key: try Person.bob.get().key, chain: [])
            let algorithm = TLV.sequence(TLV.oid(OID.sha256WithRSA), TLV.null)
            let times = TLV.time("260101000000Z") + TLV.time("270101000000Z")
            var forge = SignedForge(MailForge.text, by: alice)
            forge.lists = (0..<1000).map { number in
                let revoked = TLV.sequence(TLV.sequence(TLV.integer(number), TLV.time("260101000000Z")))
                let body = TLV.sequence(TLV.integer(1), algorithm, authority.name, times, revoked)
                return TLV.sequence(body, algorithm, TLV.bits([UInt8](repeating: 1, count: 256)))
            }
            forge.certificates += try (0..<32).map { _ in
                var forge = CertificateForge(alice.key, names: [])
                forge.subject = authority.name
                return try forge.signed(by: authority)
            }
            forge.signers = Array(repeating: forge.signers[0], count: 16)
            return MailForge().signed(MailForge.text, signature: try forge.encoded())
        },
        Bomb("nine layers") {
            var entity = MailForge.text
            for _ in 0..<9 {
                entity = CMSPart.entity(
                    try EnvelopedForge(gcm: entity, to: Person.alice.get()).encoded(),
                    "authenveloped-data"
                )
            }
            return MailForge().mail(entity)
        },
    ]

    /// The aim is two seconds and 256 MiB; a debug build on a busy machine gets two minutes.
    @Test(arguments: all + trust)
    func `every bomb ends with a result, within the limits`(_ bomb: Bomb) throws {
        let harness = try Harness.shared.get()
        let message = try bomb.message()
        for verb in bomb.verbs + [["inspect"]] {
            let result = try harness.run(verb, input: message, seconds: 120, measuresMemory: true)
            #expect(!result.isTimeout, "\(verb)")
            #expect(
                result.signal == nil && result.status < 128 && result.status != 70,
                "\(verb): \(result.status) \(result.errorText)"
            )
            if verb != ["inspect"], !bomb.isSound { #expect(result.status != 0, "\(verb)") }
            let peak = result.peakMemory ?? 0
            #expect(peak < 256 << 20 || Tool.isSanitized, "\(verb): \(peak >> 20) MiB")
            if ProcessInfo.processInfo.environment["SMIME_TEST_TABLE"] != nil {
                print("bomb: \(bomb) | \(verb[0]) | \(result.status) | \(result.processorTime) | \(peak >> 20) MiB")
            }
        }
    }
}
