import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import SMIME
import Synchronization
import TestSupport
import Testing

/// Content inside many layers or in many parts is not processed repeatedly.
@Suite struct RepeatedWorkTests {
    private static let time = Date(timeIntervalSince1970: 1_790_000_000)
    private static let header = "From: alice@example.com\r\nTo: bob@example.com\r\nMIME-Version: 1.0\r\n"

    /// A CompressedData with `content`.
    private func compressed(_ content: [UInt8]) throws -> [UInt8] {
        let writer = try CompressedDataWriter { try $0.write(content) }
        let sink = MemorySink()
        try writer.write(to: sink) { try $0.write(content) }
        return sink.bytes
    }

    private func entity(_ object: [UInt8]) -> [UInt8] {
        let fields = "Content-Type: application/pkcs7-mime; smime-type=compressed-data"
        return Array("\(fields)\r\nContent-Transfer-Encoding: base64\r\n\r\n".utf8)
            + Array(Data(object).base64EncodedString(options: .lineLength76Characters).utf8) + [13, 10]
    }

    /// The number of bytes read to open a compressed message inside that many signatures.
    private func bytesRead(signatures: Int) async throws -> Int {
        let noise = (0..<40_000).map { _ in UInt8.random(in: 33...126) }
        var mail =
            Array(Self.header.utf8)
            + entity(try compressed(Array("Content-Type: text/plain\r\n\r\n".utf8) + noise))
        for _ in 0..<signatures {
            let sink = MemorySink()
            try MessageProtector(MemorySource(mail))
                .sign(by: SignedDataWriter.Signer(person: "alice"), as: .detached, at: Self.time, to: sink)
            mail = sink.bytes
        }
        let source = CountingSource(mail)
        let opened = try await MessageOpener(Keyring(people: ["alice"]), at: Self.time).decrypt(source)
        #expect(opened.report.layers.count == signatures + 1)
        return source.bytesRead
    }

    @Test func `the content inside nested signatures is searched only once`() async throws {
        let (two, four, six) = (
            try await bytesRead(signatures: 2), try await bytesRead(signatures: 4), try await bytesRead(signatures: 6)
        )
        // Each additional signature costs the same.
        #expect(Double(six - four) < 1.2 * Double(four - two), "\(two) \(four) \(six)")
    }

    @Test(arguments: [SignatureForm.detached, .opaque])
    func `a mail that is only signed is read once`(form: SignatureForm) async throws {
        let text = String(repeating: "What was signed once need not be read twice.\r\n", count: 40_000)
        let signed = MemorySink()
        try MessageProtector(MemorySource(Array("\(Self.header)\r\n\(text)".utf8)))
            .sign(by: SignedDataWriter.Signer(person: "alice"), as: form, at: Self.time, to: signed)
        let (once, opened) = (CountingSource(signed.bytes), CountingSource(signed.bytes))
        let provider = AskedKeyring(keyring: try Keyring(people: ["alice"]))
        let report = try await MessageOpener(provider, at: Self.time).verify(once).report
        #expect(provider.trustAsked.withLock(\.self) == 1)
        let message = try await Message(opened).opened(with: provider, at: Self.time)
        #expect(provider.trustAsked.withLock(\.self) == 2)
        #expect(message.report.status == report.status && message.report.layers.count == 1)
        #expect(opened.bytesRead == once.bytesRead, "\(opened.bytesRead) \(once.bytesRead)")
        let plain = MemorySink()
        try message.write(to: plain)
        #expect(plain.bytes == signed.bytes)
    }

    @Test func `a cancelled task stops inside a layer and writes nothing`() async throws {
        let text = String(repeating: "After a cancellation the message is not read to its end.\r\n", count: 80_000)
        let mail = try Message(Array("\(Self.header)\r\n\(text)".utf8))
        let keys = try Keyring(people: ["alice"])
        let alice = try #require(keys.identities.first)
        let signed = try mail.signed(by: alice, as: .opaque, at: Self.time)
        let bytes = try await signed.bytes()
        let source = CountingSource(bytes, cancellingAt: 1 << 20)
        let opening = Task { try await MessageOpener(keys, at: Self.time).open(source).report.status }
        await #expect(throws: StreamError.cancelled) { try await opening.value }
        #expect(source.bytesRead < 2 << 20, "\(source.bytesRead) of \(bytes.count)")
        let writing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let sink = MemorySink()
            #expect(throws: StreamError.cancelled) { try signed.write(to: sink) }
            return sink.bytes.count
        }
        #expect(await writing.value < 1 << 20)
    }

    @Test func `a recipient named many times is looked up once`() async throws {
        let alice = try TestIdentity("alice").identity
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array("\(Self.header)\r\nhello\r\n".utf8))).encrypt(
            to: Array(repeating: Recipient(unchecked: alice.certificate), count: 500),
            cipher: .aes256GCM,
            at: Self.time,
            to: sink
        )
        let provider = AskedKeyring(keyring: try Keyring(people: ["alice"]))
        _ = try await MessageOpener(provider, at: Self.time).decrypt(MemorySource(sink.bytes))
        #expect(provider.asked.withLock(\.self) == [1])
    }

    @Test func `output of damaged compression counts towards the limit of inspect`() throws {
        let noise = (0..<7_000).map { _ in UInt8.random(in: 0...255) }
        let million = noise + [UInt8](repeating: 120, count: 1 << 20)
        let writer = try CompressedDataWriter { sink in for _ in 0..<40 { try sink.write(million) } }
        let sink = MemorySink()
        try writer.write(to: sink) { sink in for _ in 0..<40 { try sink.write(million) } }
        // The checksum at the end is wrong.
        let part = entity(sink.bytes.dropLast() + [sink.bytes[sink.bytes.count - 1] ^ 1])
        var mail = Array("\(Self.header)Content-Type: multipart/mixed; boundary=b\r\n\r\n".utf8)
        for _ in 0..<8 { mail += Array("--b\r\n".utf8) + part }
        let codes = try Inspection(of: MemorySource(mail + Array("--b--\r\n".utf8))).allProblems.map(\.code)
        #expect(codes == Array(repeating: "cms-malformed", count: 6) + ["cms-limit", "cms-limit"])
    }
}

/// Records for how many recipients it is asked.
private final class AskedKeyring: KeyProvider {
    let asked = Mutex<[Int]>([])
    /// The number of requests for trust.
    let trustAsked = Mutex(0)
    private let keyring: Keyring

    init(keyring: Keyring) { self.keyring = keyring }

    func identity(for recipients: [EntityIdentifier]) -> Identity? {
        asked.withLock { $0.append(recipients.count) }
        return keyring.identity(for: recipients)
    }

    func certificates(for signers: [EntityIdentifier]) -> [Certificate] { keyring.certificates(for: signers) }

    func trust(for certificates: [Certificate]) -> TrustStore {
        trustAsked.withLock { $0 += 1 }
        return keyring.trust(for: certificates)
    }
}

/// Counts the bytes read.
private final class CountingSource: ByteSource {
    private let source: MemorySource
    private let total = Mutex(0)

    var bytesRead: Int { total.withLock { $0 } }
    var count: Int { source.count }

    private let end: Int

    /// - Parameter end: the number of bytes after which the reading task is cancelled.
    init(_ bytes: [UInt8], cancellingAt end: Int = .max) { (source, self.end) = (MemorySource(bytes), end) }

    func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        let count = try source.read(into: &buffer, at: offset)
        let total = total.withLock { total in
            total += count
            return total
        }
        if total >= end { withUnsafeCurrentTask { $0?.cancel() } }
        return count
    }
}
