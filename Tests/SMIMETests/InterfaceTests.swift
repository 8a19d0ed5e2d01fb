import Foundation
import SMIME
import Synchronization
import TestSupport
import Testing

/// Further properties of the public interface: errors, other libraries, threads, objects other than mail.
@Suite struct InterfaceTests {
    private static let time = Date(timeIntervalSince1970: 1_793_500_000)

    @Test func `an error has a code, a kind and a sentence`() async throws {
        let wrong = #expect(throws: SMIMEError.self) {
            try Identity(pkcs12: Fixtures.cert("alice/alice.p12"), passphrase: "no")
        }
        #expect(wrong?.code == .wrongPassphrase && wrong?.kind == .key && wrong?.description == "wrong passphrase")
        let missing = #expect(throws: SMIMEError.self) { try Message(contentsOf: "/no/such/file") }
        #expect(missing?.code == .file && missing?.kind == .inputOutput)
        let text = "From: alice@example.com\n\nHello\n"
        let secret = try Message(text.utf8)
            .encrypted(to: [Recipient(Certificate(Fixtures.cert("bob/cert.pem")), at: Self.time)])
        let alice = try TestIdentity("alice").identityWithChain
        let other = await #expect(throws: SMIMEError.self) {
            try await secret.opened(with: Keyring(alice), at: Self.time)
        }
        #expect(other?.code == .notForUs)
    }

    @Test func `keys and certificates are exchanged with other libraries`() throws {
        let alice = try TestIdentity("alice").identityWithChain
        let copy = try alice.key.withPKCS8 { span in
            try PrivateKey(pkcs8: (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) })
        }
        #expect(copy.publicKeyInfo == alice.key.publicKeyInfo)
        let json = try JSONEncoder().encode([alice.certificate])
        #expect(try JSONDecoder().decode([Certificate].self, from: json) == [alice.certificate])
        let pem =
            try Fixtures.cert("alice/key.pem") + Fixtures.cert("alice/chain.pem") + Fixtures.cert("alice/cert.pem")
        let read = try Identity(pem: pem)
        #expect(read.certificate == alice.certificate && !read.chain.isEmpty && !read.chain.contains(read.certificate))
        let file = try PKCS12(PKCS12.encoded([alice], passphrase: "other"), passphrase: "other")
        #expect(file.identities.map(\.certificate) == [alice.certificate])
        let again = try PKCS12(Fixtures.cert("alice/alice.p12"), openedBy: Passphrase("test".utf8))
        #expect(again.identities.map(\.certificate) == [alice.certificate])
    }

    @Test func `a certificate says what keeps it from being used`() throws {
        let expired = try Certificate(Fixtures.cert("expired/cert.pem"))
        #expect(expired.problems(for: .encryption, at: Self.time).map(\.kind) == [.certificateExpired])
        let root = try Certificate(Fixtures.cert("ca/root.pem"))
        #expect(root.problems(for: .encryption, at: Self.time).map(\.kind) == [.endEntityIsCA])
        #expect(try TestIdentity("alice").identityWithChain.certificate.problems(for: .signing, at: Self.time).isEmpty)
    }

    /// Keys from another source, such as a directory server.
    private struct OwnKeys: KeyProvider {
        let trust: TrustStore

        func identity(for recipients: [EntityIdentifier]) -> Identity? { nil }
        func certificates(for signers: [EntityIdentifier]) -> [Certificate] { [] }
        func trust(for certificates: [Certificate]) -> TrustStore { trust }
    }

    @Test func `a custom key provider states its trust in one line`() async throws {
        let alice = try TestIdentity("alice").identityWithChain
        let (root, authority) = (
            try Certificate(Fixtures.cert("ca/root.pem")), try Certificate(Fixtures.cert("ca/intermediate.pem"))
        )
        let mail = try Message("From: alice@example.com\n\nHello\n".utf8).signed(by: alice, at: Self.time)
        let chained = TrustStore(anchors: [root], intermediates: [authority], systemAnchors: false)
        let trusts: [(TrustStore, VerificationReport.Status)] = [
            (TrustStore(anchors: [root]), .valid),
            (chained, .valid),
            (chained.distrusting(alice.certificate), .invalid),
            (TrustStore(anchors: []), .invalid),
            (TrustStore(anchors: []).pinning(alice.certificate), .valid),
        ]
        for (index, (trust, status)) in trusts.enumerated() {
            let report = try await mail.verified(with: OwnKeys(trust: trust), at: Self.time)
            #expect((report.status == .valid) == (status == .valid), "\(index): \(report.status)")
        }
    }

    @Test(arguments: [false, true])
    func `a CMS object that is no mail is signed and verified byte for byte`(isAttached: Bool) async throws {
        let content = CryptographicMessage.Content(Array("one\ntwo\r\n\u{0}three".utf8))
        let alice = try TestIdentity("alice").identityWithChain
        let root = try Certificate(Fixtures.cert("ca/root.pem"))
        let object = try CryptographicMessage.sign(content, by: alice, isAttached: isAttached, at: Self.time)
        let keys = Keyring(alice, trusting: root)
        let detached = isAttached ? nil : content
        let report = try await CryptographicMessage.verify(object, of: detached, with: keys, at: Self.time)
        #expect(report.status == .valid, "\(report.signers.flatMap(\.problems))")
        let other = CryptographicMessage.Content(Array("one\ntwo".utf8))
        let changed = try await CryptographicMessage.verify(object, of: other, with: keys, at: Self.time)
        #expect(changed.status == .invalid)
    }

    @Test func `the caller chooses the required extended key usage`() async throws {
        let server = try TestIdentity("wrong-eku").identityWithChain
        let content = CryptographicMessage.Content(Array("a pass".utf8))
        let object = try CryptographicMessage.sign(content, by: server, at: Self.time)
        var keys = Keyring([], trusting: [try Certificate(Fixtures.cert("ca/root.pem"))])
        func status() async throws -> VerificationReport.Status {
            try await CryptographicMessage.verify(object, of: content, with: keys, at: Self.time).status
        }
        #expect(try await status() == .untrusted)
        keys.trust.usage = .any
        #expect(try await status() == .valid)
        let usage = try #require(server.certificate.extendedKeyUsages?.first)
        keys.trust.usage = .extendedKeyUsage(usage)
        #expect(try await status() == .valid)
        keys.trust.usage = .extendedKeyUsage("1.2.3.4")
        #expect(try await status() == .untrusted)
        let problems = keys.trust.problems(of: server.certificate, for: .signing, at: Self.time)
        #expect(problems.map(\.kind).contains(.chainPurpose))
    }

    @Test(arguments: [
        ("expired", "has expired"), ("future", "not valid yet"), ("weak", "too short"),
        ("encrypt-only", "does not permit signatures"), ("ca-as-leaf", "does not permit signatures"),
    ])
    func `a CMS object is signed with an unfit certificate only on request`(name: String, reason: String) throws {
        let identity = try TestIdentity(name).identityWithChain
        let content = CryptographicMessage.Content(Array("a document".utf8))
        let error = #expect(throws: SMIMEError.self) {
            try CryptographicMessage.sign(content, by: identity, at: Self.time)
        }
        #expect(error?.code == .unusableSigner && error?.description.contains(reason) == true, "\(error as Any)")
        #expect(try !CryptographicMessage.sign(content, by: identity, at: Self.time, isChecked: false).isEmpty)
    }

    @Test func `the verdict of a report that is made in tests results from its signers`() throws {
        typealias Signer = VerificationReport.Signer
        func axis(_ code: ProblemCode) -> VerificationReport.Axis { .init([Problem(code, "a problem")]) }
        let cases: [(Signer, VerificationReport.Status)] = [
            (Signer(), .valid), (Signer(integrity: axis(.digestMismatch)), .invalid),
            (Signer(chain: .notChecked), .untrusted), (Signer(chain: axis(.chainNoAnchor)), .untrusted),
            (Signer(revocation: axis(.certificateRevoked)), .revoked),
            (Signer(revocation: axis(.revocationUnknown)), .untrusted),
            (Signer(time: axis(.certificateExpired)), .expired),
            (Signer(time: axis(.certificateNotYetValid)), .notYetValid),
            (Signer(identity: axis(.signerNotFrom)), .mismatch),
        ]
        for (signer, status) in cases {
            #expect(VerificationReport(signers: [signer]).status == status)
            #expect(signer.status == status)
        }
        #expect(VerificationReport(signers: [Signer()], coverage: .part).status == .partial)
        #expect(VerificationReport(signers: []).status == .unsigned)
        let alice = try TestIdentity("alice").certificate
        #expect(VerificationReport(signers: [Signer(certificate: alice)]).signers.map(\.certificate) == [alice])
    }

    @Test func `a keyring finds certificates by serial number and by key identifier`() throws {
        let names = ["alice", "bob", "carol"]
        let certificates = try names.map { try TestIdentity($0).certificate }
        var keys = Keyring([], certificates: [certificates[0], certificates[1]])
        let bob = certificates[1]
        let identifier = try #require(bob.subjectKeyIdentifier)
        let byKey = EntityIdentifier.subjectKeyIdentifier(identifier)
        #expect(keys.certificates(for: [EntityIdentifier(bob)]) == [bob])
        #expect(keys.certificates(for: [byKey, EntityIdentifier(bob)]) == [bob])
        #expect(keys.certificates(for: [EntityIdentifier(certificates[2])]).isEmpty)
        keys.certificates.append(certificates[2])
        let both = keys.certificates(for: [EntityIdentifier(certificates[2]), EntityIdentifier(certificates[0])])
        #expect(both == [certificates[0], certificates[2]])
    }

    @Test func `a report can be made in tests and written as JSON`() async throws {
        #expect(VerificationReport(status: .valid).status == .valid)
        #expect(VerificationReport(status: .revoked).signers.isEmpty)
        let alice = try TestIdentity("alice").identityWithChain
        let mail = try Message("From: alice@example.com\n\nHello\n".utf8).signed(by: alice, at: Self.time)
        let keys = Keyring(alice, trusting: try Certificate(Fixtures.cert("ca/root.pem")))
        let report = try await mail.verified(with: keys, at: Self.time)
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report)) as? [String: Any]
        #expect(json?["status"] as? String == "valid" && json?["coverage"] as? String == "whole")
        let signer = try #require((json?["signers"] as? [[String: Any]])?.first)
        #expect(signer["signing_time"] as? String == "2026-11-01T02:26:40Z")
        #expect((signer["integrity"] as? [String: Any])?["ok"] as? Bool == true)
    }

    @Test func `a CMS object that is no mail is encrypted and decrypted byte for byte`() async throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let bob = try TestIdentity("bob").identityWithChain
        let object = try CryptographicMessage.encrypt(.init(bytes), to: [Recipient(bob.certificate, at: Self.time)])
        let opened = try await CryptographicMessage.decrypt(.init(object), with: Keyring(bob))
        #expect(try await opened.bytes() == bytes)
        let count = Mutex(0)
        try await opened.write { piece in count.withLock { $0 += piece.byteCount } }
        #expect(count.withLock { $0 } == bytes.count)
    }

    @Test func `a private key prints its kind and a fingerprint, and nothing that is secret`() async throws {
        let file = try Fixtures.cert("alice/alice.p12")
        let alice = try #require(try await PKCS12.read(file, passphrase: "test").identities.first)
        let digest = try DigestAlgorithm.sha256.digest(alice.key.publicKeyInfo).hexadecimal
        #expect("\(alice.key)" == "\(alice.key.algorithm) (sha256:\(digest))")
        var dumped = ""
        dump(alice.key, to: &dumped)
        #expect(!dumped.contains("handle") && dumped.contains(digest))
        let wrong = await #expect(throws: SMIMEError.self) { try await PKCS12.read(file, passphrase: "wrong") }
        #expect(wrong?.code == .wrongPassphrase)
    }

    @Test func `an error that a sink throws reaches the caller`() throws {
        struct Full: Error {}
        let mail = try Message("From: alice@example.com\n\nHello\n".utf8)
        let error = #expect(throws: SMIMEError.self) { try mail.write { _ in throw Full() } }
        #expect(error?.underlyingError is Full && error?.code == .callback && error?.kind == .inputOutput)
        let refusal = SMIMEError(.limitExceeded, "enough")
        let same = #expect(throws: SMIMEError.self) { try mail.write { _ in throw refusal } }
        #expect(same?.code == .limitExceeded)
        let key = try TestIdentity("alice").identityWithChain.key
        let lent = #expect(throws: SMIMEError.self) { try key.withPKCS8 { (_: RawSpan) in throw Full() } }
        #expect(lent?.underlyingError is Full && lent?.code == .callback)
    }

    @Test func `an error that a key provider or a sequence of chunks throws reaches the caller`() async throws {
        struct Unreachable: Error {}
        struct Directory: KeyProvider {
            func identity(for recipients: [EntityIdentifier]) throws -> Identity? { throw Unreachable() }
            func certificates(for signers: [EntityIdentifier]) throws -> [Certificate] { throw Unreachable() }
            func trust(for certificates: [Certificate]) throws -> TrustStore { throw Unreachable() }
        }
        let alice = try TestIdentity("alice").identityWithChain
        let mail = try Message("From: alice@example.com\n\nHello\n".utf8)
        let signed = try mail.signed(by: alice, at: Self.time)
        let secret = try mail.encrypted(to: [Recipient(alice.certificate, at: Self.time)])
        for message in [signed, secret] {
            let error = await #expect(throws: SMIMEError.self) {
                try await message.opened(with: Directory(), at: Self.time)
            }
            #expect(error?.underlyingError is Unreachable && error?.code == .callback)
        }
        let broken = AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Unreachable()) }
        let error = await #expect(throws: SMIMEError.self) { try await Message(broken) }
        #expect(error?.underlyingError is Unreachable && error?.code == .callback)
    }

    @Test func `a cancelled task ends between two pieces of a message`() async throws {
        let body = String(repeating: String(repeating: "x", count: 76) + "\r\n", count: 200_000)
        let alice = try TestIdentity("alice").identityWithChain
        let mail = try Message("From: alice@example.com\r\n\r\n\(body)".utf8).signed(by: alice, at: Self.time)
        let written = Mutex(0)
        let task = Task {
            try await mail.write { piece in
                written.withLock { $0 += piece.byteCount }
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        let result = await task.result
        #expect(throws: (any Error).self) { try result.get() }
        #expect((written.withLock { $0 }) < body.utf8.count)
        let opening = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Message(body.utf8).opened(with: Keyring(alice), at: Self.time)
        }
        let error = await #expect(throws: SMIMEError.self) { try await opening.value }
        #expect(error?.code == .cancelled)
    }

    private final class Places: Sendable {
        let areOwn = Mutex<[Bool]>([])

        /// Records whether this is called on the library's threads.
        func note() {
            let here = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
            areOwn.withLock { $0.append(here == SMIMEExecutor.shared.asUnownedTaskExecutor()) }
        }
    }

    /// Records whether it is called on the library's threads.
    private struct WatchingProvider: KeyProvider {
        let keyring: Keyring
        let places: Places

        func identity(for recipients: [EntityIdentifier]) -> Identity? { keyring.identity(for: recipients) }

        func certificates(for signers: [EntityIdentifier]) -> [Certificate] {
            places.note()
            return keyring.certificates(for: signers)
        }

        func trust(for certificates: [Certificate]) -> TrustStore { keyring.trust }
    }

    @Test func `messages are opened on the library's threads, many at a time`() async throws {
        let alice = try TestIdentity("alice").identityWithChain
        let text = "From: alice@example.com\r\n\r\n" + String(repeating: "A line of text.\r\n", count: 5_000)
        let signed = try await Message(text.utf8).signed(by: alice, at: Self.time).bytes()
        let places = Places()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let provider = WatchingProvider(keyring: Keyring(alice), places: places)
                    return try await !Message(signed).opened(with: provider, at: Self.time).report.signers.isEmpty
                }
            }
            for try await isSigned in group { #expect(isSigned) }
        }
        let areOwn = places.areOwn.withLock { $0 }
        #expect(areOwn.count == 50 && areOwn.allSatisfy(\.self))
    }

    /// Pieces of a message. Records whether they are asked for on the library's threads.
    private struct WatchingPieces: AsyncSequence, AsyncIteratorProtocol {
        var rest: [[UInt8]]
        let places: Places

        func makeAsyncIterator() -> Self { self }

        mutating func next() async -> [UInt8]? {
            places.note()
            return rest.isEmpty ? nil : rest.removeFirst()
        }
    }

    @Test func `messages are read in pieces and written on the library's threads`() async throws {
        let text = "From: alice@example.com\r\n\r\nHello\r\n"
        let places = Places()
        let mail = try await Message(WatchingPieces(rest: text.utf8.map { [$0] }, places: places))
        #expect(places.areOwn.withLock { $0.count } == text.utf8.count + 1)
        try await mail.write { _ in places.note() }
        try await mail.opened(with: Keyring([])).write { _ in places.note() }
        try await CryptographicMessage.Content(text.utf8).write { _ in places.note() }
        let areOwn = places.areOwn.withLock { $0 }
        #expect(areOwn.count >= text.utf8.count + 4 && areOwn.allSatisfy(\.self))
        #expect(try await mail.bytes() == Array(text.utf8))
        let folder = try TemporaryFolder()
        let path = folder.file("mail.eml").path
        try await mail.write(to: path)
        #expect(try Data(contentsOf: folder.file("mail.eml")) == Data(text.utf8))
    }
}
