import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// Many certificates that a source has for one address.
@Suite struct FoundCertificateTests {
    private let address: AddressScope
    private let bob, intermediate, root: Certificate

    init() throws {
        address = try AddressScope("bob@example.com")
        bob = try Certificate(fixture: "bob/cert.pem")
        intermediate = try Certificate(fixture: "ca/intermediate.pem")
        root = try Certificate(fixture: "ca/root.pem")
    }

    /// Copies of `certificate` with other, wrong signatures.
    private func forgeries(of certificate: Certificate, _ count: UInt8) throws -> [Certificate] {
        try (1...count).map { number in
            var der = certificate.der
            der[der.count - 1] ^= number
            return try Certificate(der: der)
        }
    }

    private func answer(_ certificates: [Certificate]) -> SourceAnswer {
        var answer = SourceAnswer()
        answer.add(certificates, for: address, from: .ldap, at: "here")
        return answer
    }

    @Test func `a certificate that names the address is found among many that do not`() throws {
        let others = try forgeries(of: Certificate(fixture: "carol/cert.pem"), 130)
        let found = answer(others + [bob])
        #expect(found.found.count == 100 && found.found.first?.certificate == bob)
        #expect(found.outages.isEmpty)
    }

    @Test func `with too many certificates for an address it is unknown whether there is another one`() throws {
        let forgeries = try forgeries(of: bob, 101)
        #expect(answer(Array(forgeries.dropLast())).outages.isEmpty)
        let found = answer(forgeries)
        #expect(found.found.count == 100 && found.outages.keys.elementsEqual([address]))
        // Expired certificates are no reason to wait for.
        let expired = try Certificate(fixture: "expired/cert.pem")
        var old = SourceAnswer()
        let scope = try AddressScope("expired@example.com")
        old.add(try self.forgeries(of: expired, 101), for: scope, from: .ldap, at: "here")
        #expect(old.found.count == 100 && old.outages.isEmpty)
        // The limit is for all places of the source together.
        old.add(try self.forgeries(of: expired, 102), for: scope, from: .ldap, at: "there")
        #expect(old.found.count == 100)
    }

    @Test func `newer certificates that only sign hide none that can be encrypted to`() throws {
        let encrypting = try Certificate(fixture: "split/encrypt-cert.pem")
        let signing = try forgeries(of: Certificate(fixture: "split/cert.pem"), 130)
        var answer = SourceAnswer()
        let scope = try AddressScope("split@example.com")
        answer.add(signing + [encrypting], for: scope, from: .ldap, at: "here")
        #expect(answer.found.first?.certificate == encrypting && answer.outages.isEmpty)
    }

    @Test func `mail waits if the right certificate may be among too many`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.authorities(), at: .judged)
        let many = OneAnswer(answer: answer(try forgeries(of: bob, 120)))
        let lookup = RecipientLookup(store: store, sources: [many], systemAnchors: false)
        let choice = try #require(try await lookup.choices(for: [address], at: .judged).choices.first)
        #expect(choice.selected == nil && (choice.isHeldByOutage || choice.isUndecided))
    }

    @Test func `of the authorities those are taken that a chain needs`() throws {
        #expect(answer([bob, root]).found.map(\.authorities) == [[]])
        #expect(answer([root, bob, intermediate]).found.map(\.authorities) == [[intermediate, root]])
        let many = answer(try [bob] + forgeries(of: intermediate, 130))
        #expect(many.found.map(\.authorities.count) == [100] && many.outages.count == 1)
    }

    @Test func `all certificates found for an address are judged within one budget`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.authorities(), at: .judged)
        let source = ManyCertificates(
            certificates: try [bob] + forgeries(of: bob, 60),
            authorities: try forgeries(of: intermediate, 60)
        )
        let lookup = RecipientLookup(store: store, sources: [source], systemAnchors: false)
        let choice = try #require(try await lookup.choices(for: [address], at: .judged).choices.first)
        #expect(choice.selected?.certificate == bob)
        #expect(choice.candidates.last?.reason == .checkTooLong)
    }
}

/// A source with these certificates for every address, more than `SourceAnswer.add` takes.
private struct ManyCertificates: CertificateSource {
    let kind = KnownRecipient.Source.directory
    let timeLimit = Duration.seconds(60)
    let certificates: [Certificate]
    let authorities: [Certificate]

    func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer {
        var answer = SourceAnswer()
        for address in addresses where !address.isDomain {
            answer.found += certificates.map {
                FoundCertificate(
                    address: address,
                    certificate: $0,
                    source: kind,
                    detail: "here",
                    authorities: authorities
                )
            }
        }
        return answer
    }

    func state() throws(SourceOutage) -> String { "fixed" }
}

/// A remote source with one answer.
private struct OneAnswer: RemoteSource {
    let kind = KnownRecipient.Source.ldap
    let timeLimit = Duration.seconds(60)
    let identity = "one answer"
    let answer: SourceAnswer

    func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer { answer }

    func state() throws(SourceOutage) -> String { "fixed" }
}
