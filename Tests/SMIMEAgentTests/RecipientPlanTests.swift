import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore
import TestSupport
import Testing

/// Who will be able to read a message.
@Suite struct RecipientPlanTests {
    private func copies(
        of header: HeaderBlock,
        to addresses: [String] = [],
        sender: String? = nil,
        extra: [Certificate] = [],
        hasSecret: Bool = false,
        in home: TestHome
    ) async throws -> [RecipientPlan.Copy] {
        let lookup = try await home.store.lookup(systemAnchors: false, lists: FolderLists(warn: { _ in }))
        let plan = RecipientPlan(
            lookup: lookup,
            time: .judged,
            ciphers: CipherPreferences(),
            extra: extra,
            hasSecret: hasSecret
        )
        let sender = try sender.map { try EmailAddress($0) }
        return try await plan.copies(
            of: header,
            to: addresses.map { try EmailAddress($0) },
            from: [sender].compactMap(\.self),
            sender: sender.map { (nil, $0) }
        )
    }

    private func names(_ copy: RecipientPlan.Copy) -> [String] { copy.negotiation.verdicts.map(\.name) }

    @Test func `recipients in To and Cc share a copy, and each Bcc recipient gets one`() async throws {
        let home = try await TestHome(knowing: ["bob", "carol", "p384"])
        let fields = try header("To: bob@example.com", "Cc: carol@example.com", "Bcc: p384@example.com")
        let copies = try await copies(of: fields, sender: "alice@example.com", in: home)
        #expect(copies.map(\.number) == [nil, 1])
        #expect(
            copies.map { $0.addresses.map(\.text) } == [
                ["bob@example.com", "carol@example.com"], ["p384@example.com"],
            ]
        )
        #expect(names(copies[0]) == ["bob@example.com", "carol@example.com", "alice@example.com"])
        #expect(names(copies[1]) == ["p384@example.com", "alice@example.com"])
        #expect(try RecipientPlan.hiddenRecipients(of: fields).map(\.text) == ["p384@example.com"])
    }

    @Test func `an address in To and in Bcc gets no second copy`() async throws {
        let home = try await TestHome(knowing: ["bob", "carol"])
        let fields = try header("To: bob@example.com", "Bcc: bob@example.com, carol@example.com")
        let copies = try await copies(of: fields, in: home)
        #expect(copies.map(\.number) == [nil, 1])
        #expect(copies.map { $0.addresses.map(\.text) } == [["bob@example.com"], ["carol@example.com"]])
        #expect(try RecipientPlan.hiddenRecipients(of: fields).map(\.text) == ["carol@example.com"])
    }

    @Test func `recipients named by the caller replace those of the header`() async throws {
        let home = try await TestHome(knowing: ["bob"])
        let copies = try await copies(
            of: try header("To: nobody@example.net", "Bcc: carol@example.com"),
            to: ["bob@example.com"],
            in: home
        )
        #expect(copies.map(names) == [["bob@example.com"]])
    }

    @Test func `nothing is encrypted unless all recipients can read it, and all others are named`() async throws {
        let home = try await TestHome(knowing: ["bob"])
        let fields = try header("To: bob@example.com, eve@example.net", "Cc: mia@example.net")
        await #expect { try await copies(of: fields, in: home) } throws: { error in
            guard case AgentError.noUsableCertificate(let choices, isOutage: false) = error else { return false }
            return choices.map(\.address.text) == ["eve@example.net", "mia@example.net"]
        }
    }

    @Test func `encrypting without recipients needs a shared secret`() async throws {
        let home = try await TestHome()
        let empty = try header("From: alice@example.com")
        await #expect { try await copies(of: empty, in: home) } throws: { error in
            if case AgentError.noRecipients = error { true } else { false }
        }
        #expect(try await copies(of: empty, hasSecret: true, in: home).map(names) == [[]])
        let carol = try Certificate(fixture: "carol/cert.pem")
        #expect(try await copies(of: empty, extra: [carol], in: home).map(names) == [["\(carol.subject)"]])
    }

    @Test(arguments: [("carol", true), ("weak", false), ("ca-as-leaf", false)])
    func `certificates in files are used unchecked, except weak ones and those of authorities`(
        _ name: String,
        _ isTaken: Bool
    ) throws {
        let items = try KeyMaterial.read(Fixtures.cert("\(name)/cert.pem"))
        let taken = try? items.uncheckedRecipients(of: name)
        #expect((taken == [try Certificate(fixture: "\(name)/cert.pem")]) == isTaken)
        #expect((taken == nil) == !isTaken)
    }
}
