import ByteStreams
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

/// Certificates and lists with very many names that must be compared.
@Suite struct ComparedNamesTests {
    private static let date = Date(timeIntervalSince1970: 1_793_491_200)

    private func judge(
        _ leaf: [UInt8],
        extra: [[UInt8]] = [],
        lists: [[UInt8]] = []
    ) throws -> (verdict: ChainVerdict, codes: [String]) {
        let anchors = try Authority.trusted.get().chain.map { try Certificate(der: $0) }
        let verdict = TrustStore(anchors: anchors).judge(
            try Certificate(der: leaf),
            extra: try extra.map { try Certificate(der: $0) },
            extraLists: try lists.map { try CertificateList(der: $0) },
            purpose: .signing,
            at: Self.date
        )
        return (verdict, (verdict.problems + (verdict.revocation?.problems ?? [])).map(\.code))
    }

    private func names(_ count: Int) -> [[UInt8]] { (0..<count).map { Name.mailbox("a\($0)@example.com") } }

    /// An authority below another one that excludes `constraints` addresses and has `names` names.
    private func authority(
        _ name: String,
        below issuer: Authority,
        names count: Int = 0,
        constraints: Int
    ) throws -> (authority: Authority, certificate: [UInt8]) {
        let key = try Person.alice.get().key
        var forge = CertificateForge(key, names: names(count))
        forge.subject = Name.common(name)
        forge.basicConstraints = Extension.basicConstraints(isAuthority: true)
        forge.keyUsage = Extension.keyUsage([5, 6])
        forge.extendedKeyUsage = nil
        let subtrees = (0..<constraints).flatMap { TLV.sequence(Name.mailbox("b\($0)@example.net")) }
        forge.others = [Extension.make("2.5.29.30", TLV.sequence(TLV.element(0xA1, subtrees)))]
        let certificate = try forge.signed(by: issuer)
        return (Authority(name: forge.subject, key: key, chain: [certificate]), certificate)
    }

    @Test func `a certificate with more than a thousand names is not judged`() throws {
        let (key, trusted) = (try Person.alice.get().key, try Authority.trusted.get())
        // The common name is the thousandth name.
        let full = try judge(CertificateForge(key, names: names(999)).signed(by: trusted))
        #expect(full.verdict.isTrusted, "\(full.codes)")
        let over = try judge(CertificateForge(key, names: names(1000)).signed(by: trusted))
        #expect(!over.verdict.isTrusted)
        #expect(over.codes.contains("chain-not-checked"))
    }

    @Test func `names of distribution points count among a certificate's names`() throws {
        let (key, trusted) = (try Person.alice.get().key, try Authority.trusted.get())
        func leaf(_ count: Int) throws -> [UInt8] {
            var forge = CertificateForge(key)
            let names = (0..<count).flatMap { Name.uri("http://\($0).example.com/") }
            let point = TLV.sequence(TLV.element(0xA0, TLV.element(0xA0, names)))
            forge.others = [Extension.make("2.5.29.31", TLV.sequence(point))]
            return try forge.signed(by: trusted)
        }
        // The address, the common name and the distribution point itself add three to the count.
        let full = try judge(leaf(997))
        #expect(full.verdict.isTrusted, "\(full.codes)")
        #expect(try judge(leaf(998)).codes.contains("chain-not-checked"))
    }

    @Test func `no chain leads through an authority with more than a thousand constraints`() throws {
        let key = try Person.alice.get().key
        func codes(_ constraints: Int) throws -> [String] {
            let above = try authority("Constrained", below: Authority.trusted.get(), constraints: constraints)
            let leaf = try CertificateForge(key).signed(by: above.authority)
            return try judge(leaf, extra: [above.certificate]).codes
        }
        #expect(try !codes(999).contains("chain-not-checked"))
        #expect(try codes(1000).contains("chain-not-checked"))
    }

    @Test func `names and constraints along a path are compared within a budget`() throws {
        func codes(_ count: Int) throws -> [String] {
            var (above, certificates) = (try Authority.trusted.get(), [[UInt8]]())
            for level in 0..<20 {
                let next = try authority("Level \(level)", below: above, names: count, constraints: count)
                above = next.authority
                certificates.append(next.certificate)
            }
            let leaf = try CertificateForge(Person.alice.get().key).signed(by: above)
            return try judge(leaf, extra: certificates).codes
        }
        #expect(try !codes(20).contains("chain-not-checked"))
        #expect(try codes(480).contains("chain-not-checked"))
    }

    /// A revocation list by the trusted authority.
    private func list(_ entries: [UInt8] = [], names: Int = 0) throws -> [UInt8] {
        let trusted = try Authority.trusted.get()
        let algorithm = TLV.sequence(TLV.oid(OID.sha256WithRSA), TLV.null)
        let point = TLV.element(0xA0, TLV.element(0xA0, (0..<names).flatMap { Name.uri("http://\($0).example.com/") }))
        let place = Extension.make("2.5.29.28", isCritical: true, TLV.sequence(point))
        let body = TLV.sequence(
            TLV.integer(1),
            algorithm,
            trusted.name,
            TLV.time("261001000000Z"),
            TLV.time("271001000000Z"),
            entries.isEmpty ? [] : TLV.sequence(entries),
            names == 0 ? [] : TLV.explicit(0, TLV.sequence(place))
        )
        return TLV.sequence(body, algorithm, TLV.bits(try trusted.key.sign(body, padding: .pkcs1)))
    }

    @Test func `a list for more than a thousand names of a distribution point is refused`() throws {
        #expect(throws: Never.self) { try CertificateList(der: list(names: 999)) }
        #expect(throws: CMSError.limitExceeded("names of the distribution point of a revocation list")) {
            try CertificateList(der: list(names: 1000))
        }
    }

    @Test func `a revocation list in memory is parsed once`() throws {
        let list = try CertificateList(der: list())
        let copy = list
        let object = try list.object()
        #expect(try copy.object() === object)
    }

    /// A list with an entry whose time is text.
    private func unreadableList() throws -> [UInt8] {
        try list(TLV.sequence(TLV.integer(5), TLV.utf8("261101000000Z")))
    }

    @Test func `an unreadable list is not reported as badly signed`() throws {
        let leaf = try CertificateForge(Person.alice.get().key).signed(by: Authority.trusted.get())
        let codes = try judge(leaf, lists: [unreadableList()]).codes
        #expect(codes.contains("crl-unreadable") && !codes.contains("crl-signature"), "\(codes)")
    }

    @Test func `import refuses an unreadable list`() throws {
        let harness = try Harness.shared.get()
        let file = harness.folder.appending(path: "unreadable.crl")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(unreadableList()).write(to: file)
        let result = try harness.run(["import", file.path])
        #expect(result.status == 65, "\(result.text) \(result.errorText)")
    }

    /// What a certificate has very many of.
    enum Excess: CaseIterable {
        case addresses, attributes, extensions, internationalAddresses
    }

    private func forge(with excess: Excess) throws -> CertificateForge {
        var forge = CertificateForge(try Person.alice.get().key)
        switch excess {
        case .addresses: forge.names += names(30_000)
        case .attributes: forge.subject = Name.rdns((0..<30_000).map { _ in ("2.5.4.3", TLV.utf8("x")) })
        case .extensions: forge.others = (0..<20_000).map { Extension.make("1.2.3.\($0)", TLV.null) }
        case .internationalAddresses:
            forge.names += (0..<15_000).map { Name.smtpUTF8("a\($0)@ex\u{E4}mple\($0).com") }
        }
        return forge
    }

    @Test(.timeLimit(.minutes(15)), arguments: Excess.allCases)
    func `a certificate with very many parts is not compared for each of its signatures`(excess: Excess) throws {
        let person = try forge(with: excess).person(Person.alice.get().key, below: Authority.trusted.get())
        var signed = SignedForge(MailForge.text, by: person)
        signed.signers = Array(repeating: SignerForge(person), count: 16)
        let harness = try Harness.shared.get()
        let result = try harness.run(
            ["verify", "--json", "--no-harvest", "--time", "2026-11-01T12:00:00Z"],
            input: MailForge().signed(MailForge.text, signature: try signed.encoded()),
            seconds: 30
        )
        #expect(!result.isTimeout && result.status == 1, "\(result.status) \(result.errorText)")
        #expect(result.text.contains("chain-not-checked"), "\(result.text.prefix(4000))")
        #expect(!result.text.contains("signer-not-from"), "\(result.text.prefix(4000))")
        #expect(result.text.utf8.count < 300_000)
    }

    @Test func `a pin does not make a certificate with more than a thousand names valid`() async throws {
        let person = try forge(with: .addresses).person(Person.alice.get().key, below: Authority.untrusted.get())
        let signed = SignedForge(MailForge.text, by: person, isDetached: false)
        let certificate = try Certificate(der: person.certificate)
        var keys = Keyring([])
        keys.trust = keys.trust.pinning(certificate)
        let object = MemorySource(try signed.encoded()).stream()
        let report = try await MessageOpener(keys, at: Self.date).verify(cms: object, detached: nil).report
        #expect(report.signers.map(\.status) == [.mismatch])
        #expect(report.signers.first?.identity.problems.map(\.code) == ["chain-not-checked"])
    }

    @Test func `only part of a foreign certificate's many names is listed`() throws {
        let key = try Person.alice.get().key
        let person = try CertificateForge(key, names: names(900)).person(key, below: Authority.trusted.get())
        let mail = MailForge(from: "bob@example.com").signed(
            MailForge.text,
            signature: try SignedForge(MailForge.text, by: person).encoded()
        )
        let harness = try Harness.shared.get()
        let result = try harness.run(["verify", "--no-harvest", "--time", "2026-11-01T12:00:00Z"], input: mail)
        #expect(result.text.contains("and 880 more, not for From"), "\(result.text.prefix(4000))")
    }
}
