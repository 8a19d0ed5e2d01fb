import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEStore
import Synchronization
import TestSupport
import Testing

@Suite struct RemoteSourceTests {
    private let bob: AddressScope
    private let carol: AddressScope

    init() throws { (bob, carol) = (try AddressScope("bob@example.com"), try AddressScope("carol@example.com")) }

    private func store(in home: TemporaryHome) async throws -> Store {
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.authorities(), at: .judged)
        return store
    }

    private func lookup(_ store: Store, _ sources: [any CertificateSource]) -> RecipientLookup {
        RecipientLookup(store: store, sources: sources, systemAnchors: false)
    }

    @Test func `an answer is kept, also that there is none, until it ends or is asked for anew`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        let source = Directory(["bob"])
        var lookup = lookup(store, [source])
        for _ in 1...2 {
            let choices = try await lookup.choices(for: [bob, carol], at: .judged).choices
            #expect(choices.map { $0.selected?.source } == [.ldap, nil])
            #expect(choices.map(\.isUnknown) == [false, false])
            #expect(choices[0].selected?.sourceDetail == "bob")
        }
        #expect(source.asked.sorted() == ["bob@example.com", "carol@example.com"])
        lookup.ignoresCachedAnswers = true
        _ = try await lookup.choices(for: [carol], at: .judged)
        #expect(source.asked.count == 3)
        // All readers use the stored answer, but only for the directory that gave it.
        let reader = try await home.open(.readOnly)
        _ = try await self.lookup(reader, [source]).choices(for: [bob], at: .judged)
        #expect(source.asked.count == 3)
        let moved = Directory(["bob"], identity: "elsewhere")
        _ = try await self.lookup(reader, [moved]).choices(for: [bob], at: .judged)
        #expect(moved.asked == ["bob@example.com"])
        let count = try await home.number("SELECT count(*) FROM lookup_answer")
        var short = self.lookup(store, [Directory([], identity: "short")])
        short.limits = LookupLimits(budget: .seconds(60), retention: .seconds(60), retentionOfNone: .zero)
        _ = try await short.choices(for: [bob], at: .judged)
        #expect(try await home.number("SELECT count(*) FROM lookup_answer") == count)
    }

    @Test func `a kept answer that is too old, or that no smime would keep, is not used`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        let source = Directory(["bob"], identity: "rows")
        let lookup = lookup(store, [source])
        _ = try await lookup.choices(for: [bob, carol], at: .judged)
        let forgeries = [
            "time = time - 3600, until = 99999999999", "detail = '\(String(repeating: "x", count: 4097))'",
            "address_key = address_key || 'x', until = 99999999999",
        ]
        for (round, forgery) in forgeries.enumerated() {
            try await home.change("UPDATE lookup_answer SET \(forgery)")
            for _ in 1...2 { _ = try await lookup.choices(for: [bob, carol], at: .judged) }
            #expect(source.asked.count == 2 * round + 4, "\(forgery.prefix(20))")
            #expect(try await home.number("SELECT count(*) FROM lookup_answer") == 2)
        }
    }

    @Test func `no source is asked about our own addresses with a detail behind a delimiter`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        _ = try await store.accounts.add(try EmailAddress("bob@example.com"), at: .judged)
        let source = Directory(["bob"])
        var lookup = lookup(store, [source])
        let own = try EmailAddress("bob@example.com")
        lookup.ownForms = { $0.localPart.hasPrefix("bob+") ? [own] : [] }
        _ = try await lookup.choices(for: [AddressScope("bob+x@example.com"), carol], at: .judged)
        #expect(source.asked == ["carol@example.com"])
    }

    @Test func `an outage is known to this process alone`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        _ = try await lookup(store, [Directory([], identity: "down", outage: "no library")]).choices(
            for: [bob],
            at: .judged
        )
        #expect(try await home.number("SELECT count(*) FROM lookup_answer") == 0)
    }

    @Test func `a store that cannot be read is no outage of a source`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        let source = Directory([], identity: "closing", delay: 0.5)
        let sources = [source, Directory(["bob"], identity: "next")]
        let lookup = lookup(store, sources)
        let choices = Task { [bob] in try await lookup.choices(for: [bob], at: .judged) }
        while source.asked.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try await store.close()
        await #expect(throws: KeystoreError.self) { _ = try await choices.value }
    }

    @Test func `no source is asked about addresses of our own accounts`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        _ = try await store.accounts.add(try EmailAddress("bob@example.com"), at: .judged)
        let source = Directory(["bob"])
        let choices = try await lookup(store, [source]).choices(for: [bob, carol], at: .judged).choices
        #expect(choices[0].candidates.isEmpty)
        #expect(source.asked == ["carol@example.com"])
    }

    @Test func `a source is asked about a domain only for a foreign address of it`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        _ = try await store.accounts.add(try EmailAddress("bob@example.com"), at: .judged)
        let (dave, domain) = (try AddressScope("dave@example.org"), try AddressScope("@example.com"))
        func asked(_ addresses: AddressScope...) async throws -> Set<String> {
            let source = Directory([], identity: "\(addresses)", knowsDomains: true)
            _ = try await lookup(store, [source]).choices(for: addresses, at: .judged)
            return Set(source.asked)
        }
        let other = AddressScope(domainOf: try EmailAddress("dave@example.org"))
        #expect(try await asked(bob).isEmpty)
        #expect(try await asked(bob, dave) == [dave.text, other.text])
        #expect(try await asked(bob, carol) == [carol.text, domain.text])
        #expect(try await asked(domain) == [domain.text])
    }

    @Test func `a source that is down is left alone for a while, and holds no mail that may go in clear`() async throws
    {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        let down = Directory(["bob"], outage: "no answer in time")
        let start = ContinuousClock.now
        for why in ["", "it was not asked, less than 60 s after an outage: "] {
            let answer = try await lookup(store, [down]).choices(for: [bob], at: .judged)
            #expect(answer.choices[0].isUnknown && !answer.choices[0].isHeldByOutage)
            // On a very busy machine the pause may be over before the second look-up.
            guard ContinuousClock.now - start < .seconds(50) else { return }
            #expect(answer.warnings == ["the source ldap cannot be asked: \(why)no answer in time"])
        }
        #expect(down.asked.count == 1)
        // Also while the source is not asked, mail waits if others may have caused the outage.
        let full = Directory(["bob"], identity: "3", outage: "too many", holdsMail: true)
        for _ in 0..<2 {
            let answer = try await lookup(store, [full]).choices(for: [bob], at: .judged)
            #expect(answer.choices[0].isHeldByOutage)
        }
        // A later source is asked nevertheless.
        let answer = try await lookup(store, [down, Directory(["bob"], identity: "2")]).choices(for: [bob], at: .judged)
        #expect(answer.choices[0].selected?.rank == 2)
    }

    @Test func `the sources together do not take longer than a message may wait`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        var lookup = lookup(store, [Directory([], identity: "slow", delay: 0.2), Directory(["bob"])])
        lookup.limits = LookupLimits(budget: .milliseconds(100), retention: .seconds(60), retentionOfNone: .seconds(60))
        let choice = try #require(try await lookup.choices(for: [bob], at: .judged).choices.first)
        // The second source was not asked, so the mail must not leave in clear.
        #expect(choice.isUnknown && choice.isHeldByOutage)
        #expect(
            choice.outages.last
                == "the source ldap cannot be asked: other sources used up the lookup time of the message"
        )
        // Neither source is at fault, so nothing is stored about them.
        #expect(try await home.number("SELECT count(*) FROM lookup_answer") == 0)
    }

    @Test func `addresses without a turn hold the mail, and each attempt gets further`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        var lookup = lookup(store, [BusyDirectory()])
        lookup.limits = LookupLimits(budget: .seconds(60), retention: .seconds(3600), retentionOfNone: .zero)
        let addresses = [carol, try AddressScope("dave@example.com"), bob]
        lookup.message = [1]
        for attempt in 1...3 {
            let choices = try await lookup.choices(for: addresses, at: .judged).choices
            #expect(choices.filter(\.isHeldByOutage).count == 3 - attempt)
            if attempt == 3 { #expect(choices[2].selected != nil) }
        }
    }

    @Test func `an outage of the address does not hide one of its domain that holds mail`() async throws {
        let home = try TemporaryHome()
        let choice = try #require(
            try await lookup(try await store(in: home), [HalfDirectory()]).choices(for: [bob], at: .judged).choices
                .first
        )
        #expect(choice.isHeldByOutage && choice.outages.count == 1)
    }

    @Test func `the turns at other messages do not count`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        var lookup = lookup(store, [BusyDirectory()])
        lookup.limits = LookupLimits(budget: .seconds(60), retention: .seconds(3600), retentionOfNone: .zero)
        let addresses = try ["dave@example.com", "erin@example.com"].map { try AddressScope($0) }
        // The addresses may have certificates when the next message is sent, so both must be asked again.
        for (message, counts) in [([2], [1, 0]), ([3], [1, 0]), (nil, [1, 1])] as [([UInt8]?, [Int])] {
            lookup.message = message
            for count in counts {
                let choices = try await lookup.choices(for: addresses, at: .judged).choices
                #expect(choices.filter(\.isHeldByOutage).count == count)
            }
        }
    }

    @Test(
        arguments: [
            ("time = time - 4000, until = until - 4000", false, 0, 2),
            ("time = time - 4000, until = until - 4000", true, 1, 2),
            ("time = time - 180000, until = until - 180000", false, 1, 1),
            ("certificates = substr(certificates, 1, 0), time = time - 4000, until = until - 4000", false, 1, 1),
        ]
    )
    func `certificates of an expired answer are used for two days if there is no time to ask again`(
        change: String,
        isFresh: Bool,
        heldCount: Int,
        answerCount: Int
    ) async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        var lookup = lookup(store, [BusyDirectory()])
        lookup.message = [1]
        let addresses = [bob, try AddressScope("alice@example.com")]
        let first = try await lookup.choices(for: addresses, at: .judged).choices
        #expect(first.filter(\.isHeldByOutage).count == 1)
        try await home.change("UPDATE lookup_answer SET \(change)")
        lookup.ignoresCachedAnswers = isFresh
        let choices = try await lookup.choices(for: addresses, at: .judged).choices
        #expect(choices.filter { $0.selected == nil && $0.isHeldByOutage }.count == heldCount)
        #expect(choices.filter { $0.selected != nil }.count == 2 - heldCount)
        #expect(try await home.number("SELECT count(*) FROM lookup_answer") == answerCount)
    }

    @Test func `certificates of an expired answer are used while the source is down`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        func choice(_ source: Directory) async throws -> RecipientChoice {
            try #require(try await lookup(store, [source]).choices(for: [bob], at: .judged).choices.first)
        }
        #expect(try await choice(Directory(["bob"])).selected != nil)
        try await home.change("UPDATE lookup_answer SET time = time - 4000, until = until - 4000")
        // The second time the source is not asked, because it was down a moment ago.
        for _ in 0..<2 {
            let choice = try await choice(Directory(["bob"], outage: "no answer"))
            #expect(choice.selected != nil && choice.outages.count == 1)
        }
        try await home.change("UPDATE lookup_answer SET time = time - 180000, until = until - 180000")
        #expect(try await choice(Directory(["bob"], outage: "no answer")).selected == nil)
    }

    @Test func `a thousand expired answers stay in the store`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        let now = Int(Date.now.timeIntervalSince1970)
        try await home.change(
            """
            INSERT INTO lookup_answer (source, address_key, time, until, certificates, detail)
                WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 1100)
                SELECT 'ldap', 'u' || i, \(now) - 4000, \(now) - i, x'30', '' FROM number
            """
        )
        _ = try await lookup(store, [Directory(["bob"])]).choices(for: [bob], at: .judged)
        #expect(try await home.number("SELECT count(*) FROM lookup_answer") == 1001)
        #expect(try await home.number("SELECT count(*) FROM lookup_answer WHERE until > \(now) - 1001") == 1001)
    }

    @Test func `lists ask no remote source`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home)
        let source = Directory(["bob"])
        let overviews = try await lookup(store, [source]).overviews(of: [bob], at: .judged).overviews
        #expect(overviews.allSatisfy { $0.selected == nil } && source.asked.isEmpty)
    }
}

/// A directory that has Alice's and Bob's certificates, has time for one address at a time, and never answers about Carol.
private struct BusyDirectory: RemoteSource {
    let kind = KnownRecipient.Source.ldap
    let timeLimit = Duration.seconds(60)
    let identity = "busy"

    func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer {
        var answer = SourceAnswer()
        for address in addresses.dropFirst() {
            answer.unasked.insert(address)
            answer.outages[address] = SourceOutage("no time was left for the address", holdsMail: true)
        }
        guard let address = addresses.first else { return answer }
        if address.text.hasPrefix("carol") {
            answer.late.insert(address)
            answer.outages[address] = SourceOutage("no answer in time")
        }
        for name in ["alice", "bob"] {
            guard let certificate = try? Certificate(fixture: "\(name)/cert.pem") else { throw SourceOutage(name) }
            if certificate.names(address) { answer.add([certificate], for: address, from: kind, at: name) }
        }
        return answer
    }

    func state() throws(SourceOutage) -> String { "busy" }
}

/// A directory that is silent about addresses, and whose answers about domains cannot be read.
private struct HalfDirectory: RemoteSource {
    let kind = KnownRecipient.Source.smimea
    let timeLimit = Duration.seconds(60)
    let identity = "half"
    let knowsDomains = true

    func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer {
        var answer = SourceAnswer()
        for address in addresses {
            answer.outages[address] = SourceOutage("no answer", holdsMail: address.isDomain)
        }
        return answer
    }

    func state() throws(SourceOutage) -> String { "half" }
}

/// A directory with the certificates of these names in certs/.
private final class Directory: RemoteSource {
    let kind = KnownRecipient.Source.ldap
    let timeLimit = Duration.seconds(60)
    let identity: String
    let knowsDomains: Bool
    private let names: [String]
    private let outage: SourceOutage?
    private let delay: TimeInterval
    private let questions = Mutex<[String]>([])

    var asked: [String] { questions.withLock { $0 } }

    init(
        _ names: [String],
        identity: String = "1",
        knowsDomains: Bool = false,
        outage: String? = nil,
        holdsMail: Bool = false,
        delay: TimeInterval = 0
    ) {
        (self.names, self.identity, self.delay) = (names, identity, delay)
        self.outage = outage.map { SourceOutage($0, holdsMail: holdsMail) }
        self.knowsDomains = knowsDomains
    }

    func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer {
        questions.withLock { $0 += addresses.map(\.text) }
        if let outage { throw outage }
        Thread.sleep(forTimeInterval: delay)
        var answer = SourceAnswer()
        for name in names {
            guard let certificate = try? Certificate(fixture: "\(name)/cert.pem") else { throw SourceOutage(name) }
            for scope in addresses where !scope.isDomain && certificate.names(scope) {
                answer.add([certificate], for: scope, from: kind, at: name)
            }
        }
        return answer
    }

    func state() throws(SourceOutage) -> String { "fixed" }
}
