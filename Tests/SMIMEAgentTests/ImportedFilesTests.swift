import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIMEAgent
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// Recognising the kind of an imported file.
@Suite struct ImportedFilesTests {
    /// Simulates typed passphrases, one after the other.
    private final class Typed: ImportPassphrases {
        let isGiven = false
        private let words: Mutex<[String]>
        private let wrong = Mutex(0)

        init(_ words: [String]) { self.words = Mutex(words) }

        var wrongCount: Int { wrong.withLock { $0 } }

        func passphrase(for path: String) throws -> Passphrase {
            try words.withLock { words in
                guard !words.isEmpty else { throw CocoaError(.userCancelled) }
                return Passphrase(words.removeFirst().utf8)
            }
        }

        func noteWrongPassphrase(for path: String) { wrong.withLock { $0 += 1 } }
    }

    private func read(_ files: [String], _ typed: Typed = Typed(["test"])) throws -> ImportedFiles {
        try ImportedFiles(files, passphrases: typed) { MemorySource(try Fixtures.cert($0)) }
    }

    @Test func `a PKCS#12 file gives an identity`() throws {
        let files = try read(["alice/alice.p12"])
        #expect(files.identities.map(\.certificate) == [try Certificate(fixture: "alice/cert.pem")])
        #expect(files.mails.isEmpty)
    }

    @Test func `a key and its certificate in different files form an identity`() throws {
        let files = try read(["bob/key.pem", "alice/cert.pem", "bob/cert.pem"])
        #expect(files.identities.map(\.certificate) == [try Certificate(fixture: "bob/cert.pem")])
        #expect(files.certificates == [try Certificate(fixture: "alice/cert.pem")])
    }

    @Test func `a key without a certificate is refused`() throws {
        #expect { try read(["bob/key.pem", "alice/cert.pem"]) } throws: { error in
            if case AgentError.unpairedKey(file: "bob/key.pem") = error { true } else { false }
        }
    }

    @Test func `revocation lists and mail are recognized`() throws {
        #expect(try read(["revoked/crl.pem"]).certificateLists.count == 1)
        let mail = MemorySource(Array("From: alice@example.com\n\nHello\n".utf8))
        let files = try ImportedFiles(["-"], passphrases: Typed([])) { _ in mail }
        #expect(files.mails.map(\.file) == ["standard input"])
    }

    @Test func `a passphrase is asked for twice`() throws {
        let patient = Typed(["no", "test"])
        #expect(try read(["alice/alice.p12"], patient).identities.count == 1)
        #expect(patient.wrongCount == 1)
        #expect { try read(["alice/alice.p12"], Typed(["no", "no", "test"])) } throws: { error in
            guard case AgentError.unreadable(_, let cause) = error else { return false }
            if case CMSError.wrongPassphrase = cause { return true }
            return false
        }
    }

    @Test func `a file with too many iterations is refused with the limit`() throws {
        #expect {
            try ImportedFiles(["p12-cases/modern.p12"], passphrases: Typed(["test"]), maximumIterations: 10) {
                MemorySource(try Fixtures.cert($0))
            }
        } throws: { error in
            if case AgentError.tooManyIterations(_, allowed: 10, more: 100) = error { true } else { false }
        }
    }

    @Test func `end entities become recipients, and authorities become anchors if trusted`() throws {
        var plan = ImportPlan(account: nil, trust: true, now: .judged)
        try plan.add(read(["bob/cert.pem", "ca/root.pem"]))
        #expect(plan.batch.recipients.map(\.certificate) == [try Certificate(fixture: "bob/cert.pem")])
        #expect(plan.batch.anchors == [try Certificate(fixture: "ca/root.pem")])
        var other = ImportPlan(account: nil, trust: false, now: .judged)
        try other.add(read(["ca/root.pem"]))
        #expect(other.batch.anchors.isEmpty && other.batch.intermediates.count == 1)
    }

    @Test func `an identity without an address needs an account`() throws {
        var plan = ImportPlan(account: nil, trust: false, now: .judged)
        #expect { try plan.add(read(["no-email/no-email.p12"])) } throws: { error in
            if case AgentError.unnamedIdentity = error { true } else { false }
        }
        var named = ImportPlan(account: try EmailAddress("desk@example.com"), trust: false, now: .judged)
        try named.add(read(["no-email/no-email.p12"]))
        #expect(named.batch.identities.map { $0.accounts.map(\.text) } == [["desk@example.com"]])
    }

    @Test func `an identity marked as an authority leads to the advice to reissue it`() throws {
        var plan = ImportPlan(account: nil, trust: false, now: .judged)
        try plan.add(read(["ca-as-leaf/ca-as-leaf.p12"]))
        #expect(plan.problems.contains { $0.kind == .endEntityIsCA })
        guard case .reissueAsEndEntity = try #require(plan.advice.first) else {
            Issue.record("other advice")
            return
        }
    }
}
