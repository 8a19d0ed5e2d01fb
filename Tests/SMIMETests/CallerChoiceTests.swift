import ByteStreams
import Foundation
import SMIME
import TestSupport
import Testing

/// The public interface respects the choices of a program, and likely mistakes of a program do no harm.
@Suite struct CallerChoiceTests {
    private static let time = Date(timeIntervalSince1970: 1_793_500_000)
    private static let text = "From: alice@example.com\r\nSubject: Plans\r\n\r\nMeet me at eight.\r\n"

    private let alice: Identity
    private let bob: Identity
    private let root: Certificate

    init() throws {
        alice = try TestIdentity("alice").identityWithChain
        bob = try TestIdentity("bob").identityWithChain
        root = try Certificate(Fixtures.cert("ca/root.pem"))
    }

    private func mail() throws -> Message { try Message(Self.text.utf8) }

    @Test(arguments: [
        (RevocationPolicy.soft, VerificationReport.Status.valid), (.hard, .untrusted), (.off, .valid),
    ])
    func `the revocation policy of a keyring decides`(
        policy: RevocationPolicy,
        expected: VerificationReport.Status
    ) async throws {
        var keys = Keyring(alice, trusting: root)
        keys.trust.options.revocation = policy
        let signed = try mail().signed(by: alice, at: Self.time)
        let content = CryptographicMessage.Content(Self.text.utf8)
        let object = try CryptographicMessage.sign(content, by: alice, isAttached: true, at: Self.time)
        let reports = [
            try await signed.opened(with: keys, at: Self.time).report,
            try await signed.verified(with: keys, at: Self.time),
            try await CryptographicMessage.verify(object, with: keys, at: Self.time),
            try await CryptographicMessage.opened(.init(object), with: keys, at: Self.time).report,
        ]
        for report in reports {
            #expect(report.status == expected)
            #expect(report.signers.allSatisfy { ($0.revocation.ok == nil) == (policy == .off) })
            #expect(report.allProblems.map(\.kind).contains(.revocationUnknown) == (policy != .off))
        }
    }

    @Test func `a stream that ends because its task was cancelled is no message`() async throws {
        let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield(Array(Self.text.utf8.prefix(40)))
        let task = Task { try await Message(chunks) }
        task.cancel()
        let error = await #expect(throws: SMIMEError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `content whose encryption does not protect against changes is not opened on request`() async throws {
        let recipient = try Recipient(bob.certificate, at: Self.time)
        for (cipher, isAuthenticated) in [(ContentCipher.aes256CBC, false), (.aes256GCM, true)] {
            let secret = try mail().encrypted(to: [recipient], cipher: cipher)
            let object = try CryptographicMessage.encrypt(.init(Self.text.utf8), to: [recipient], cipher: cipher)
            let calls: [() async throws -> [UInt8]] = [
                { try await secret.opened(with: Keyring(bob), onlyAuthenticated: true, at: Self.time).bytes() },
                {
                    try await CryptographicMessage.decrypt(.init(object), with: Keyring(bob), onlyAuthenticated: true)
                        .bytes()
                },
            ]
            for call in calls {
                if isAuthenticated {
                    #expect(try await call() == Array(Self.text.utf8))
                } else {
                    let error = await #expect(throws: SMIMEError.self) { try await call() }
                    #expect(error?.code == .unauthenticated)
                }
            }
            let content = try await CryptographicMessage.decrypt(.init(object), with: Keyring(bob))
            let kinds = try #require(content.report).layers.flatMap(\.problems).map(\.kind)
            #expect(kinds.contains(.unauthenticated) == !isAuthenticated)
        }
    }

    @Test func `a signature that contains its content returns the bytes only if it matches them`() async throws {
        let bytes = Array("{\"formatVersion\":1}\n\r\n\0".utf8)
        let keys = Keyring(alice, trusting: root)
        let object = try CryptographicMessage.sign(.init(bytes), by: alice, isAttached: true, at: Self.time)
        let opened = try await CryptographicMessage.opened(.init(object), with: keys, at: Self.time)
        #expect(opened.report.status == .valid)
        #expect(try await opened.content?.bytes() == bytes)
        let start = try #require(object.firstRange(of: bytes)).lowerBound
        var changed = object
        changed[start] ^= 1
        let detached = try CryptographicMessage.sign(.init(bytes), by: alice, at: Self.time)
        for other in [changed, detached, Array("no object".utf8)] {
            let opened = try await CryptographicMessage.opened(.init(other), with: keys, at: Self.time)
            #expect(opened.content == nil && opened.report.status != .valid)
        }
    }

    /// The third text is the printed form of the bytes of "Meet" in an array.
    @Test func `the description of a message has no bytes of the mail`() async throws {
        let recipient = try Recipient(bob.certificate, at: Self.time)
        let opened = try await mail().encrypted(to: [recipient]).opened(
            with: Keyring(bob),
            at: Self.time
        )
        let content = CryptographicMessage.Content(Self.text.utf8)
        for value in [try mail() as Any, opened, content, (try mail(), "x"), [opened]] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                for secret in ["eight", "Plans", "77, 101, 101, 116"] {
                    #expect(!text.contains(secret), "\(text.prefix(200))")
                }
            }
        }
    }

    @Test func `files are written for their owner alone, under any umask`() async throws {
        let folder = try TemporaryFolder()
        try await mail().write(to: folder.file("mail").path)
        try await mail().signed(by: alice, at: Self.time).write(to: folder.file("signed").path)
        for name in ["mail", "signed"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func `a path with a zero byte names no file`() async throws {
        let folder = try TemporaryFolder()
        try Data(Self.text.utf8).write(to: folder.file("a"))
        let path = folder.file("a").path + "\0.eml"
        let reading = #expect(throws: SMIMEError.self) { try Message(contentsOf: path) }
        let writing = await #expect(throws: SMIMEError.self) { try await mail().write(to: path) }
        #expect(reading?.code == .file && writing?.code == .file)
    }

    @Test func `a file of identities contains their chains, and there is none without an identity`() throws {
        let bytes = try PKCS12.encoded([alice], chain: [root], passphrase: "other")
        let read = try Identity(pkcs12: bytes, passphrase: "other")
        #expect(Set(read.chain) == Set(alice.chain + [root]))
        #expect(read.chain.count == Set(read.chain).count)
        let error = #expect(throws: SMIMEError.self) { try PKCS12.encoded([], passphrase: "other") }
        #expect(error?.code == .noKeyPair)
    }

    @Test(arguments: [1e30, -1e30, Double.infinity, -.infinity, .nan])
    func `any time can be given`(seconds: Double) async throws {
        let time = Date(timeIntervalSince1970: seconds)
        let signed = try Message(try await mail().signed(by: alice, at: Self.time).bytes())
        let report = try await signed.verified(with: Keyring(alice, trusting: root), at: time)
        #expect(report.status != .valid)
        // A time that is not a number is in no validity period.
        let certificate = try TestIdentity("bob").certificate
        #expect(!certificate.isValid(at: time))
        #expect(throws: SMIMEError.self) { try Recipient(certificate, at: time) }
    }

    @Test func `a weak certificate has an error, as in a report`() throws {
        let weak = try TestIdentity("weak").certificate
        let trust = Keyring([], trusting: [root]).trust
        let problems = trust.problems(of: weak, for: .signing, at: Self.time)
        #expect(problems.contains { $0.kind == .weakKey && $0.level == .error })
    }
}
