import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct SelectionTests {
    typealias Reason = RecipientSelection.Reason
    typealias SelectionState = IdentitySelection.SelectionState

    /// A row of the table: the certificates known for an address, and what is expected of each.
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let known: [(name: String, trust: KnownRecipient.Trust, chain: RecipientSelection.Chain)]
        let expected: [Reason]

        var testDescription: String { what }

        init(
            _ what: String,
            _ known: [(String, KnownRecipient.Trust, RecipientSelection.Chain)],
            _ expected: [Reason]
        ) {
            self.what = what
            self.known = known.map { (name: $0.0, trust: $0.1, chain: $0.2) }
            self.expected = expected
        }
    }

    static let trusted = RecipientSelection.Chain(isTrusted: true)
    static let untrusted = RecipientSelection.Chain(isTrusted: false)
    static let revoked = RecipientSelection.Chain(isTrusted: true, isRevoked: true)

    static let rows: [Row] = [
        Row("nothing", [], []),
        Row("one that is good", [("alice", .chain, trusted)], [.selected]),
        Row(
            "the newest of the good ones, wherever it stands",
            [("alice", .chain, trusted), ("alice-renewed", .chain, trusted)],
            [.superseded, .selected]
        ),
        Row(
            "the newest first",
            [("alice-renewed", .chain, trusted), ("alice", .chain, trusted)],
            [.selected, .superseded]
        ),
        Row(
            "an expired one beside a good one",
            [("alice-old", .chain, trusted), ("alice", .chain, trusted)],
            [.expired, .selected]
        ),
        Row("not yet valid", [("future", .chain, trusted)], [.notYetValid]),
        Row("no chain", [("alice", .chain, untrusted)], [.untrusted]),
        Row("pinned without a chain", [("alice", .pinned, untrusted)], [.selected]),
        Row(
            "pinned goes before newer ones",
            [("alice", .pinned, untrusted), ("alice-renewed", .chain, trusted)],
            [.selected, .pinnedPreferred]
        ),
        Row(
            "the newer of two pinned ones",
            [("alice", .pinned, trusted), ("alice-renewed", .pinned, trusted)],
            [.superseded, .selected]
        ),
        Row(
            "a newer one if what is pinned has expired",
            [("alice-old", .pinned, trusted), ("alice", .chain, trusted)],
            [.expired, .selected]
        ),
        Row(
            "a newer one if what is pinned was revoked",
            [("alice", .pinned, revoked), ("alice-renewed", .chain, trusted)],
            [.revoked, .selected]
        ),
        Row("distrusted in spite of a chain", [("alice", .distrusted, trusted)], [.distrusted]),
        Row(
            "the older one if the newer is distrusted",
            [("alice-renewed", .distrusted, trusted), ("alice", .chain, trusted)],
            [.distrusted, .selected]
        ),
        Row("revoked", [("alice", .chain, revoked)], [.revoked]),
        Row("revoked in spite of a pin", [("alice", .pinned, revoked)], [.revoked]),
        Row("for signing only", [("sign-only", .chain, trusted)], [.notForEncryption]),
        Row("for servers", [("wrong-eku", .chain, trusted)], [.notForEncryption]),
        Row("an authority", [("ca-as-leaf", .chain, trusted)], [.authority]),
        Row("an authority that is pinned", [("ca-as-leaf", .pinned, untrusted)], [.selected]),
        Row("1024 bits", [("weak", .chain, trusted)], [.weakKey]),
        Row("1024 bits in spite of a pin", [("weak", .pinned, untrusted)], [.weakKey]),
        Row("expired in spite of a pin", [("alice-old", .pinned, untrusted)], [.expired]),
        Row("an elliptic curve", [("carol", .chain, trusted)], [.selected]),
    ]

    @Test(arguments: rows)
    func `each recipient certificate has the expected reason`(row: Row) throws {
        let recipients = try row.known.map { known in
            KnownRecipient(
                address: try AddressScope("alice@example.com"),
                certificate: try Certificate(fixture: "\(known.name)/cert.pem"),
                source: .imported,
                firstSeen: Date.judged,
                lastSeen: Date.judged,
                trust: known.trust
            )
        }
        #expect(RecipientSelection.judge(recipients, chains: row.known.map(\.chain), at: .judged) == row.expected)
    }

    @Test func `what was learned counts for an address that it names, and for no domain`() throws {
        let certificate = try Certificate(fixture: "bob/cert.pem")
        for (text, expected) in [
            ("bob@example.com", Reason.selected), ("eve@example.com", .otherAddress), ("@example.com", .otherAddress),
        ] {
            let recipient = KnownRecipient(
                address: try AddressScope(text),
                certificate: certificate,
                source: .harvest,
                firstSeen: .judged,
                lastSeen: .judged
            )
            #expect(RecipientSelection.judge([recipient], chains: [Self.trusted], at: .judged) == [expected])
        }
    }

    @Test(arguments: [
        (["alice"], [SelectionState.current]),
        (["alice", "alice-renewed"], [.superseded, .current]),
        (["alice-renewed", "alice-old"], [.current, .expired]),
        (["alice-old"], [.expired]), (["bob"], [.otherAddress]),
        (["encrypt-only"], [.wrongUsage]), ([], []),
    ])
    func `each signing identity has the expected reason`(names: [String], expected: [SelectionState]) throws {
        let identities = try names.map { try identity($0) }
        let address = try EmailAddress("ALICE@example.com")
        #expect(IdentitySelection.judge(identities, for: address, purpose: .signing, at: .judged) == expected)
    }

    @Test func `a pinned identity precedes a newer one`() throws {
        let identities = [try identity("alice", isPinned: true), try identity("alice-renewed")]
        let address = try EmailAddress("alice@example.com")
        #expect(
            IdentitySelection.judge(identities, for: address, purpose: .signing, at: .judged)
                == [.current, .superseded]
        )
    }

    @Test func `an identity assigned by hand need not name the account`() throws {
        let identities = [try identity("no-email", isAssigned: true)]
        let address = try EmailAddress("alice@example.com")
        #expect(IdentitySelection.judge(identities, for: address, purpose: .signing, at: .judged) == [.current])
    }

    @Test func `a certificate that does not name the author is assigned to the author's account, or foreign`() throws {
        let author = try EmailAddress("alice@example.com")
        func match(_ name: String, in identities: [AccountIdentity]) throws -> IdentitySelection.AuthorMatch {
            IdentitySelection.match(of: try Certificate(fixture: "\(name)/cert.pem"), with: author, in: identities)
        }
        #expect(try match("alice", in: []) == .named)
        #expect(try match("bob", in: [identity("bob", isAssigned: true)]) == .assigned)
        #expect(try match("bob", in: [identity("bob")]) == .foreign)
        #expect(try match("bob", in: [identity("no-email", isAssigned: true)]) == .foreign)
    }

    @Test func `the choice does not depend on the order of certificates`() throws {
        let names = ["alice", "alice-renewed", "alice-reissued", "alice-old"]
        let address = try EmailAddress("alice@example.com")
        let chosen = try (0..<4).map { shift in
            let identities = try (names[shift...] + names[..<shift]).map { try identity($0) }
            return IdentitySelection.current(of: identities, for: address, purpose: .signing, at: .judged)
        }
        #expect(Set(chosen.map { $0?.certificate }) == [try Certificate(fixture: "alice-renewed/cert.pem")])
    }

    private func identity(_ name: String, isAssigned: Bool = false, isPinned: Bool = false) throws -> AccountIdentity {
        AccountIdentity(
            account: try EmailAddress("alice@example.com"),
            certificate: try Certificate(fixture: "\(name)/cert.pem"),
            isAssigned: isAssigned,
            isPinned: isPinned,
            added: Date.judged
        )
    }
}
