import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import SMIME

/// Measures many mails in one process, for `scripts/bench many`; not part of the product.
///
/// Arguments: the folder `certs`, and the number of mails. Prints the CPU time of signing, verifying, encrypting and
/// decrypting a mail of 2 KB, in microseconds. With the third argument `archive` it runs `ArchiveBench` instead.
@main
struct MailBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let isArchive = arguments.last == "archive"
        guard arguments.count == (isArchive ? 3 : 2), let certs = arguments.first, let count = Int(arguments[1]),
            count > 0
        else {
            print("usage: MailBench CERTS COUNT [archive]")
            exit(64)
        }
        guard !isArchive else { return try await ArchiveBench(certs: certs).run(count) }
        let alice = try Alice(certs: certs)
        let mail = MemorySource(Array(Self.mail.utf8))
        let signed = try written { try alice.sign(mail, to: $0) }
        let encrypted = try written { try alice.encrypt(mail, to: $0) }
        let opener = MessageOpener(alice, at: .now)

        let times = [
            try await measure(count) { _ = try written { try alice.sign(mail, to: $0) } },
            try await measure(count) {
                guard try await opener.verify(signed).report.status == .valid else {
                    throw CocoaError(.featureUnsupported)
                }
            },
            try await measure(count) { _ = try written { try alice.encrypt(mail, to: $0) } },
            try await measure(count) {
                let opened = try await opener.decrypt(encrypted)
                _ = try written { try opened.write(to: $0) }
            },
        ]
        print(times.map { String(Int($0)) }.joined(separator: " "))
    }

    static let mail =
        "From: alice@example.com\r\nTo: alice@example.com\r\nSubject: bench\r\nMIME-Version: 1.0\r\n"
        + "Content-Type: text/plain\r\n\r\n"
        + String(repeating: "Sixty-four bytes of a line that says nothing, again and again.\r\n", count: 29)

    private static func written(_ body: (MemorySink) throws -> Void) throws -> MemorySource {
        let sink = MemorySink()
        try body(sink)
        return MemorySource(sink.bytes)
    }

    /// The CPU time of `work` in microseconds, after warming up.
    private static func measure(_ count: Int, _ work: @Sendable () async throws -> Void) async throws -> Double {
        for _ in 0..<20 { try await work() }
        let start = cpuTime()
        for _ in 0..<count { try await work() }
        return (cpuTime() - start) / Double(count)
    }

    private static func cpuTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

/// A user with a key who trusts the authority of the test certificates.
private struct Alice: KeyProvider {
    private let signer: SignedDataWriter.Signer
    private let key: Identity
    private let store: TrustStore

    init(certs: String) throws {
        let bytes = try Array(Data(contentsOf: URL(filePath: certs + "/alice/alice.p12")))
        let file = try PKCS12(bytes, passphrase: Passphrase("test".utf8))
        guard let identity = file.identities.first else { throw CMSError.noKeyPair }
        signer = SignedDataWriter.Signer(identity)
        key = identity
        let root = try KeyMaterial.read(Array(Data(contentsOf: URL(filePath: certs + "/ca/root.pem"))))
        var store = TrustStore()
        store.anchors = root.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
        self.store = store
    }

    func sign(_ mail: some ByteSource, to sink: any ByteSink) throws {
        try MessageProtector(mail).sign(by: signer, as: .detached, at: .now, to: sink)
    }

    func encrypt(_ mail: some ByteSource, to sink: any ByteSink) throws {
        let recipient = Recipient(unchecked: key.certificate)
        try MessageProtector(mail).encrypt(to: [recipient], cipher: .aes256GCM, signedBy: nil, at: .now, to: sink)
    }

    func identity(for recipients: [EntityIdentifier]) -> Identity? { key }

    func certificates(for signers: [EntityIdentifier]) -> [Certificate] { [] }

    func trust(for certificates: [Certificate]) -> TrustStore { store }
}
