import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct LookupTests {
    @Test func `a silent certificate source is skipped in time, and the next one is asked`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.authorities(), at: .judged)
        let pipe = try Pipe(in: home)
        let lookup = RecipientLookup(
            store: store,
            sources: [pipe, FixedSource(["bob"])],
            systemAnchors: false
        )
        let answer = try await lookup.choices(for: [AddressScope("bob@example.com")], at: .judged)
        #expect(answer.choices.first?.selected?.certificate == (try Certificate(fixture: "bob/cert.pem")))
        #expect(answer.warnings == ["the source directory cannot be asked: no answer within 0.2 s"])
        await #expect(throws: SourceOutage("no answer within 0.2 s")) {
            try await pipe.ask { source throws(SourceOutage) in try source.state() }
        }
    }

    @Test func `without an answer from a source the certificate is reported as unknown`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.authorities()
        batch.recipients = [
            .init(
                certificate: try Certificate(fixture: "alice/cert.pem"),
                addresses: [try AddressScope("alice@example.com")]
            )
        ]
        _ = try await store.add(batch, at: .judged)
        let addresses = try ["alice", "bob"].map { try AddressScope("\($0)@example.com") }
        let away = DirectorySource(path: home.path + "/away")
        let lookup = RecipientLookup(store: store, sources: [away], systemAnchors: false)
        let choices = try await lookup.choices(for: addresses, at: .judged).choices
        #expect(choices.map(\.isUnknown) == [false, true])
        #expect(choices[1].reasonForNoCertificate.hasPrefix("the source directory cannot be asked: "))
        // A folder without a file for the address is a valid answer.
        try FileManager.default.createDirectory(atPath: away.path, withIntermediateDirectories: true)
        let empty = try await lookup.choices(for: addresses, at: .judged).choices
        #expect(empty.map(\.isUnknown) == [false, false] && empty[1].reasonForNoCertificate == "none is known")
        // If the file for the address is unreadable, the answer is unknown, although the file for the domain is usable.
        symlink("@example.com.pem", away.path + "/@example.com.pem")
        let torn = try await lookup.choices(for: addresses, at: .judged)
        #expect(torn.choices.map(\.isUnknown) == [false, true] && torn.warnings.count == 1)
    }

    @Test func `a file for the address that is there but cannot be read holds mail`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.authorities(), at: .judged)
        let folder = URL(filePath: home.path + "/certs")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "bob@example.com.pem")
        let source = DirectorySource(path: folder.path, timeLimit: .seconds(60))
        let lookup = RecipientLookup(store: store, sources: [source], systemAnchors: false)
        func choice() async throws -> RecipientChoice {
            try #require(try await lookup.choices(for: [AddressScope("bob@example.com")], at: .judged).choices.first)
        }
        let der = Data(try Certificate(fixture: "bob/cert.pem").der)
        let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let bob = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
        for text in ["", "nonsense", String(bob.prefix(300)), bob + String(repeating: "#", count: 1 << 20)] {
            try Data(text.utf8).write(to: file)
            let torn = try await choice()
            #expect(torn.isUnknown && torn.isHeldByOutage, "\(text.count) characters")
        }
        // A certificate that can be read is used, although others in the file cannot.
        try Data((bob + bob.prefix(300)).utf8).write(to: file)
        let partial = try await choice()
        #expect(partial.selected != nil && partial.outages.count == 1)
        try FileManager.default.removeItem(at: file)
        #expect(try await !choice().isUnknown)
        // The link leads to a disk that is not mounted.
        symlink("/nowhere/bob.pem", file.path)
        let link = try await choice()
        #expect(link.isUnknown && link.isHeldByOutage)
    }

    @Test func `later sources are asked only for addresses without a certificate`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.authorities()
        batch.recipients = [
            .init(
                certificate: try Certificate(fixture: "alice/cert.pem"),
                addresses: [try AddressScope("alice@example.com")]
            ),
            .init(
                certificate: try Certificate(fixture: "alice/cert.pem"),
                addresses: [try AddressScope("@example.com")],
                isPinned: true
            ),
        ]
        _ = try await store.add(batch, at: .judged)
        let (first, second) = (FixedSource(["bob"]), FixedSource(["bob", "carol"]))
        let lookup = RecipientLookup(store: store, sources: [first, second], systemAnchors: false)
        let addresses = try ["alice", "bob", "carol", "dana"].map { try AddressScope("\($0)@example.com") }
        let choices = try await lookup.choices(for: addresses, at: .judged).choices
        #expect(first.asked == ["bob@example.com", "carol@example.com", "dana@example.com", "@example.com"])
        #expect(second.asked == ["carol@example.com", "dana@example.com", "@example.com"])
        #expect(choices.map { $0.selected?.source } == [.imported, .directory, .directory, .domain])
        #expect(choices.map { $0.selected?.rank } == [0, 1, 2, 0])
        #expect(choices[1].candidates.map(\.reason) == [.ownPreferred, .selected])
        #expect(choices[3].candidates.map(\.reason) == [.selectedForDomain])
    }

    @Test func `the first source with a usable certificate wins, even if a later one has a newer certificate`()
        async throws
    {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.authorities()
        batch.recipients = [
            .init(
                certificate: try Certificate(fixture: "alice-old/cert.pem"),
                addresses: [try AddressScope("alice@example.com")]
            )
        ]
        _ = try await store.add(batch, at: .judged)
        let lookup = RecipientLookup(
            store: store,
            sources: [FixedSource(["alice"]), FixedSource(["alice-renewed", "alice"])],
            systemAnchors: false
        )
        let choice = try #require(
            try await lookup.choices(for: [AddressScope("alice@example.com")], at: .judged, asking: .everything)
                .choices.first
        )
        #expect(choice.candidates.map(\.reason) == [.expired, .selected, .laterSource])
        #expect(choice.selected?.certificate == (try Certificate(fixture: "alice/cert.pem")))
    }

    @Test func `a source's certificate is not used if it is distrusted or names another address`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.authorities(), at: .judged)
        let bob = try AddressScope("bob@example.com")
        let other = FixedSource(["carol"], under: bob)
        let lookup = RecipientLookup(store: store, sources: [other], systemAnchors: false)
        #expect(
            try await lookup.choices(for: [bob], at: .judged).choices[0].candidates.map(\.reason) == [.otherAddress]
        )
        var batch = ImportBatch()
        batch.recipients = [.init(certificate: try Certificate(fixture: "bob/cert.pem"), addresses: [bob])]
        _ = try await store.add(batch, at: .judged)
        _ = try await store.recipients.setTrust(.distrusted, of: bob)
        let same = RecipientLookup(store: store, sources: [FixedSource(["bob"])], systemAnchors: false)
        #expect(
            try await same.choices(for: [bob], at: .judged).choices[0].candidates.map(\.reason) == [.distrusted]
        )
    }

    @Test func `authorities that a source has for one address complete no chain of another one`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let addresses = try ["alice", "bob"].map { try AddressScope("\($0)@example.com") }
        var batch = ImportBatch()
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        batch.recipients = [.init(certificate: try Certificate(fixture: "alice/cert.pem"), addresses: [addresses[0]])]
        _ = try await store.add(batch, at: .judged)
        let source = FixedSource(["bob"], authorities: [try Certificate(fixture: "ca/intermediate.pem")])
        let lookup = RecipientLookup(store: store, sources: [source], systemAnchors: false)
        let choices = try await lookup.choices(for: addresses, at: .judged).choices
        #expect(choices.map { $0.candidates.map(\.reason) } == [[.untrusted], [.selected]])
    }

    @Test func `a domain scope matches every spelling of its domain and no other domain`() throws {
        let scope = try AddressScope("@Пример.test")
        #expect(scope.isDomain)
        #expect(try scope == AddressScope("@xn--e1afmkfd.TEST"))
        #expect(try scope.contains(EmailAddress("bob@xn--e1afmkfd.test")))
        #expect(try !scope.contains(EmailAddress("bob@sub.xn--e1afmkfd.test")))
        #expect(try scope == AddressScope(domainOf: EmailAddress("a@пример.test")))
        for text in ["@", "@@", "@a b", "", "@-", "@x@y", "@a/b"] {
            #expect(throws: MIMEError.self) { try AddressScope(text) }
        }
    }
}

/// A source with the certificates of these names in certs/, found by the addresses in them or by another address.
private final class FixedSource: CertificateSource {
    let kind = KnownRecipient.Source.directory
    let timeLimit = Duration.seconds(60)
    private let names: [String]
    private let address: AddressScope?
    private let authorities: [Certificate]
    private let questions = Locked<[String]>([])

    var asked: [String] { questions.value }

    init(_ names: [String], under address: AddressScope? = nil, authorities: [Certificate] = []) {
        self.names = names
        self.address = address
        self.authorities = authorities
    }

    func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer {
        questions.value = addresses.map(\.text)
        var answer = SourceAnswer()
        for name in names {
            guard let certificate = try? Certificate(fixture: "\(name)/cert.pem") else {
                throw SourceOutage("no certificate of \(name)")
            }
            for scope in addresses where address.map({ $0 == scope }) ?? (!scope.isDomain && certificate.names(scope)) {
                answer.found.append(
                    FoundCertificate(
                        address: scope,
                        certificate: certificate,
                        source: kind,
                        detail: name,
                        authorities: authorities
                    )
                )
            }
        }
        return answer
    }

    func state() throws(SourceOutage) -> String { "fixed" }
}

/// A folder that blocks, as a network file system can: a pipe without a writer.
private struct Pipe: CertificateSource {
    let kind = KnownRecipient.Source.directory
    let timeLimit = Duration.milliseconds(200)
    private let path: String

    init(in home: TemporaryHome) throws {
        path = home.path + "/pipe"
        guard mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer {
        _ = try state()
        return SourceAnswer()
    }

    func state() throws(SourceOutage) -> String {
        close(open(path, O_RDONLY))
        return "it answered"
    }
}
