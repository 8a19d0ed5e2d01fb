import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

/// A store with two accounts (one with an RSA key, one with a P-256 key), other people's certificates, their authority, and
/// rules; and the gateway's processing of a message with it.
struct BenchSite {
    static let rsa = "rsa@inside.example"
    static let ec = "ec@inside.example"
    /// A recipient with a certificate, and a rule that requires encryption.
    static let reader = "reader@outside.example"
    /// A recipient without a certificate.
    static let stranger = "stranger@outside.example"

    let home: String
    private let store: Store
    private let host: MailHost
    private let senders: [SignedDataWriter.Signer]

    init(folder: String) async throws {
        home = NSTemporaryDirectory() + "smime-bench-\(UUID().uuidString)"
        guard let name = HostName("gw.inside.example") else { throw CocoaError(.featureUnsupported) }
        host = MailHost(name: name)
        func identities(_ name: String) throws -> [Identity] {
            let bytes = try Array(Data(contentsOf: URL(filePath: "\(folder)/\(name).p12")))
            return try PKCS12(bytes, passphrase: Passphrase("test".utf8)).identities
        }
        var batch = ImportBatch()
        for identity in try identities("rsa") + identities("ec") {
            let accounts = identity.certificate.emailAddresses
            batch.identities.append(.init(identity, accounts: accounts, isAssigned: false))
        }
        batch.anchors = [try Certificate(contentsOf: "\(folder)/ca.pem")]
        let reader = try Certificate(contentsOf: "\(folder)/reader.pem")
        batch.recipients = [.init(certificate: reader, addresses: reader.recipientScopes)]
        store = try await Store.open(StoreLocation(home: home), mode: .readWrite)
        _ = try await store.add(batch, at: .now)
        for (pattern, encrypt) in [("outside.example", Policy.Level.never), (Self.reader, .require)] {
            guard let pattern = Policy.Pattern(pattern) else { throw CocoaError(.featureUnsupported) }
            _ = try await store.policy.set(Policy.Rule(.recipient(pattern), sign: .require, encrypt: encrypt))
        }
        guard let sender = try identities("sender1").first else { throw CocoaError(.fileReadCorruptFile) }
        senders = try (1...200).map { number in
            let certificate = try Certificate(contentsOf: "\(folder)/sender\(number).pem")
            return SignedDataWriter.Signer(Identity(unchecked: certificate, sender.key))
        }
    }

    /// Messages of 2 KB, all different, as input for `work`.
    func messages(for work: BenchWork, _ count: Int) async throws -> [[UInt8]] {
        try (0..<count).map { number in
            switch work {
            case .signRSA: return Self.mail(from: Self.rsa, to: Self.stranger, number)
            case .signEC: return Self.mail(from: Self.ec, to: Self.stranger, number)
            case .signAndEncrypt: return Self.mail(from: Self.rsa, to: Self.reader, number)
            case .verify, .verifyMany:
                let sender = work == .verify ? 0 : number % senders.count
                let mail = Self.mail(from: "sender\(sender + 1)@outside.example", to: Self.rsa, number)
                let sink = MemorySink()
                try MessageProtector(MemorySource(mail)).sign(by: senders[sender], as: .detached, at: .now, to: sink)
                return sink.bytes
            }
        }
    }

    private static func mail(from sender: String, to recipient: String, _ number: Int) -> [UInt8] {
        let header =
            "From: \(sender)\r\nTo: \(recipient)\r\nSubject: bench \(number)\r\nMIME-Version: 1.0\r\n"
            + "Message-ID: <\(UUID().uuidString)@inside.example>\r\nContent-Type: text/plain\r\n\r\n"
        let line = "Sixty-four bytes of a line that says nothing, again and again.\r\n"
        return Array((header + String(repeating: line, count: 29) + "\(number)\r\n").utf8)
    }

    /// Processes `message` like the gateway, up to the last byte of the output.
    func handle(_ message: [UInt8], _ work: BenchWork) async throws {
        switch work {
        case .signRSA: try await send(message, from: Self.rsa, to: Self.stranger, .sign)
        case .signEC: try await send(message, from: Self.ec, to: Self.stranger, .sign)
        case .signAndEncrypt: try await send(message, from: Self.rsa, to: Self.reader, .signAndEncrypt)
        case .verify, .verifyMany: try await receive(message)
        }
    }

    private func send(
        _ message: [UInt8],
        from sender: String,
        to recipient: String,
        _ action: PolicyDecision.Action
    ) async throws {
        let store = store.forOneMessage()
        let asked = OnlineRevocation(StoreOpening(store), isDemanded: false)
        let filter = OutgoingFilter(store: store, time: .now, revocation: asked, host: host)
        let plan = try await filter.plan(
            MemorySource(message),
            from: EnvelopeSender(sender),
            to: [EmailAddress(recipient)]
        )
        try plan.checkSendable()
        for message in plan.messages {
            guard message.action == action else { throw CocoaError(.featureUnsupported) }
            try plan.write(message, to: MemorySink())
        }
        guard await asked.keep() == nil else { throw CocoaError(.featureUnsupported) }
    }

    private func receive(_ message: [UInt8]) async throws {
        let store = store.forOneMessage()
        let source = MemorySource(message)
        let (sender, recipients) = (EnvelopeSender("bounces@outside.example"), [Self.rsa])
        try await RequiredEncryption(store: store).check(source, from: sender, to: recipients)
        let asked = OnlineRevocation(StoreOpening(store), isDemanded: false)
        let plan = try await IncomingFilter(store: store, time: .now, host: host, revocation: asked)
            .plan(source, to: recipients)
        for message in plan.messages { try message.source.reader().copy(to: MemorySink()) }
        guard await asked.keep() == nil, plan.report.status == .valid, let learnable = plan.learnable else {
            throw CocoaError(.featureUnsupported)
        }
        let learning = Learning(in: store, onChange: .sameRoot)
        guard try await learning.preview([learnable]).changesStore else { return }
        guard try await learning.learn([learnable]) != nil else { throw CocoaError(.featureUnsupported) }
    }
}
