import Foundation

extension BombTests {
    /// Messages whose certificates, lists and responses need a lot of comparing or repeated parsing.
    static let trust = [
        Bomb("10,000 international addresses and as many constraints") {
            let key = try Person.alice.get().key
            let constraints = (0..<10_000).map { Name.mailbox("\($0).example") }
            let authority = try constrained("Above", constraints, names: [], below: Authority.untrusted.get())
            let names = (0..<10_000).map { Name.smtpUTF8("\($0)@example.com") }
            return try signed(CertificateForge(key, names: names).person(key, below: authority))
        },
        Bomb("a chain of 12 authorities with 490 names and as many constraints each") {
            let key = try Person.alice.get().key
            var authority = try Authority.untrusted.get()
            for level in 0..<12 {
                let constraints = (0..<490).map { Name.mailbox("\($0)@example.net") }
                let names = (0..<490).map { Name.mailbox("\($0)@example.org") }
                authority = try constrained("Level \(level)", constraints, names: names, below: authority)
            }
            return try signed(CertificateForge(key).person(key, below: authority))
        },
        Bomb("OCSP responses of many extensions that name none of the certificates, and 16 signers") {
            let key = try Person.alice.get().key
            var authority = try Authority.untrusted.get()
            for level in 0..<8 { authority = try constrained("Level \(level)", [], names: [], below: authority) }
            let extensions = TLV.sequence(
                (0..<30_000).flatMap { _ in TLV.sequence([6, 1, 0x2A], TLV.octets([])) }
            )
            var forge = SignedForge(MailForge.text, by: try CertificateForge(key).person(key, below: authority))
            forge.lists = (0..<16).map { response(number: $0, extensions) }
            forge.signers = Array(repeating: forge.signers[0], count: 16)
            return MailForge().signed(MailForge.text, signature: try forge.encoded())
        },
        Bomb("20,000 distribution points and a list for as many") {
            let (key, authority) = (try Person.alice.get().key, try Authority.untrusted.get())
            var forge = CertificateForge(key)
            let point = TLV.element(0xA0, TLV.element(0xA0, (0..<20_000).flatMap { Name.uri("a\($0)") }))
            forge.others = [Extension.make("2.5.29.31", TLV.sequence(TLV.sequence(point)))]
            let person = try forge.person(key, below: authority)
            let place = TLV.element(0xA0, TLV.element(0xA0, (0..<20_000).flatMap { Name.uri("b\($0)") }))
            return try signed(
                person,
                lists: [
                    list(authority, entries: 0, [Extension.make("2.5.29.28", isCritical: true, TLV.sequence(place))])
                ]
            )
        },
        Bomb("a list of 100,000 entries that 30 authorities of its name may have signed, and 16 signers") {
            let key = try Person.alice.get().key
            let same = Name.common("Same")
            var authority = try Authority.untrusted.get()
            for _ in 0..<30 { authority = try constrained("Same", [], names: [], below: authority) }
            let stranger = Authority(name: same, key: try Person.bob.get().key, chain: [])
            var forge = SignedForge(MailForge.text, by: try CertificateForge(key).person(key, below: authority))
            forge.lists = [try list(stranger, entries: 100_000)]
            forge.signers = Array(repeating: forge.signers[0], count: 16)
            return MailForge().signed(MailForge.text, signature: try forge.encoded())
        },
    ]

    /// An authority below another one, with name constraints and names.
    private static func constrained(
        _ name: String,
        _ constraints: [[UInt8]],
        names: [[UInt8]],
        below issuer: Authority
    ) throws -> Authority {
        let key = try Person.alice.get().key
        var forge = CertificateForge(key, names: names)
        forge.subject = Name.common(name)
        forge.basicConstraints = Extension.basicConstraints(isAuthority: true)
        forge.keyUsage = Extension.keyUsage([5, 6])
        forge.extendedKeyUsage = nil
        let subtrees = constraints.flatMap { TLV.sequence($0) }
        if !subtrees.isEmpty {
            forge.others = [Extension.make("2.5.29.30", TLV.sequence(TLV.element(0xA1, subtrees)))]
        }
        return Authority(name: forge.subject, key: key, chain: [try forge.signed(by: issuer)] + issuer.chain)
    }

    private static func signed(_ person: Person, lists: [[UInt8]] = []) throws -> [UInt8] {
        var forge = SignedForge(MailForge.text, by: person)
        forge.lists = lists
        return MailForge().signed(MailForge.text, signature: try forge.encoded())
    }

    private static func list(
        _ authority: Authority,
        entries: Int,
        _ extensions: [[UInt8]] = []
    ) throws -> [UInt8] {
        let algorithm = TLV.sequence(TLV.oid(OID.sha256WithRSA), TLV.null)
        let time = TLV.time("261001000000Z")
        let revoked = TLV.sequence((0..<entries).flatMap { TLV.sequence(TLV.integer($0), time) })
        let body = TLV.sequence(
            TLV.integer(1),
            algorithm,
            authority.name,
            time + TLV.time("271001000000Z"),
            entries == 0 ? [] : revoked,
            extensions.isEmpty ? [] : TLV.explicit(0, TLV.sequence(extensions.flatMap { $0 }))
        )
        return TLV.sequence(body, algorithm, TLV.bits(try authority.key.sign(body, padding: .pkcs1)))
    }

    /// An OtherRevocationInfoFormat with an OCSP response that contains no answers (RFC 5940 §2.1).
    private static func response(number: Int, _ extensions: [UInt8]) -> [UInt8] {
        let responder = TLV.explicit(2, TLV.octets([UInt8](repeating: UInt8(number), count: 20)))
        let data = TLV.sequence(responder, TLV.time("20261101000000Z"), TLV.sequence(), TLV.explicit(1, extensions))
        let algorithm = TLV.sequence(TLV.oid(OID.sha256WithRSA), TLV.null)
        let basic = TLV.sequence(data, algorithm, TLV.bits([UInt8](repeating: 1, count: 256)))
        let bytes = TLV.sequence(TLV.oid("1.3.6.1.5.5.7.48.1.1"), TLV.octets(basic))
        let whole = TLV.sequence(TLV.element(0x0A, [0]), TLV.explicit(0, bytes))
        return TLV.element(0xA1, TLV.oid("1.3.6.1.5.5.7.16.2") + whole)
    }
}
