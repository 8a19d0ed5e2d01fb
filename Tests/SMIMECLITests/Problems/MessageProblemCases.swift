import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

/// Problems of the message around a signature, and of the sender's identity.
enum MessageProblemCases {
    static let recipes: [ProblemCode: ProblemCaseTests.Recipe] = [
        .bareCR: { try inspect("From: alice@example.com\r\nSubject: a\rb\r\n\r\nhello\r\n") },
        .bareLF: { try inspect("From: alice@example.com\r\nSubject: a\n\r\nhello\r\n") },
        .base64Padding: {
            // At least one of three consecutive lengths needs base64 padding.
            let mails = try (0..<3).map { try signed(plain + [UInt8](repeating: 0x78, count: $0), as: .opaque) }
            let texts = mails.map { String(decoding: $0, as: UTF8.self) }
            let text = texts.first { $0.contains("=\r\n") }?.replacing("=\r\n", with: "\r\n").replacing(
                "=\r\n",
                with: "\r\n"
            )
            return try await verify(Array((text ?? "").utf8))
        },
        .blankBeforeColon: { try inspect("From: alice@example.com\r\nSubject : x\r\n\r\nhello\r\n") },
        .byteOrderMark: { try inspect("\u{FEFF}From: alice@example.com\r\n\r\nhello\r\n") },
        .certificateAddressMalformed: { try await identity(signer: "nul-address", from: "alice@example.com") },
        .certificateNoAddress: { try await identity(signer: "no-email", from: "alice@example.com") },
        .contradictoryBoundary: {
            try inspect("Content-Type: multipart/mixed; boundary=a; boundary=b\r\n\r\n--a\r\n\r\nx\r\n--a--\r\n")
        },
        .duplicateContentType: { try inspect("Content-Type: text/plain\r\nContent-Type: text/html\r\n\r\nx\r\n") },
        .duplicateTransferEncoding: {
            let field = "Content-Transfer-Encoding: "
            return try inspect("From: a@example.com\r\n\(field)base64\r\n\(field)7bit\r\n\r\nx\r\n")
        },
        .encodedMultipart: {
            let field = "Content-Transfer-Encoding: base64\r\n"
            return try inspect("Content-Type: multipart/mixed; boundary=a\r\n\(field)\r\n--a\r\n\r\nx\r\n--a--\r\n")
        },
        .encrypted: { try await verify(encrypted(plain)) },
        .fromDisplayName: { try await identity(from: "\"bob@example.com\" <alice@example.com>") },
        .fromDoubled: { try await identity(from: "alice@example.com\r\nFrom: bob@example.com") },
        .fromGroup: { try await identity(from: "us: alice@example.com;") },
        .fromMalformed: { try await identity(from: "alice@example.com, nobody at all") },
        .fromMissing: { try await identity(from: "") },
        .fromRoute: { try await identity(from: "<@relay.example.com:alice@example.com>") },
        .fromSeveral: { try await identity(from: "alice@example.com, bob@example.com") },
        .headerDiffers: { try await whole(replacing: "To: carol", with: "To: mallory") },
        .headerUnprotected: {
            try await whole(replacing: "To: carol", with: "Reply-To: mallory@example.com\r\nTo: carol")
        },
        .innerSignature: {
            let inner = String(decoding: try signed(plain), as: UTF8.self).replacing("hello", with: "jello")
            let object = try encrypted(signed(Array(inner.utf8)))
            return try await opener().decrypt(MemorySource(object)).report.problems
        },
        .innerSigner: { try await verify(signed(signed(plain, by: "carol"), as: .opaque)) },
        .malformed: { try await verify([]) },
        .malformedContentType: { try inspect("Content-Type: what\r\n\r\nx\r\n") },
        .mboxLine: { try inspect("From alice@example.com Thu Jan  1 00:00:00 1970\r\nSubject: x\r\n\r\nx\r\n") },
        .missingBoundary: { try inspect("Content-Type: multipart/mixed\r\n\r\nx\r\n") },
        .hiddenFields: { try inspect("From: a@example.com\r\nwhat is this\r\nFrom: b@example.com\r\n\r\nx\r\n") },
        .missingHeaderEnd: { try inspect("From: alice@example.com\r\nSubject: x\r\nwhat is this\r\n") },
        .nulByte: { try inspect("From: alice@example.com\r\nSubject: a\0b\r\n\r\nx\r\n") },
        .protectedFromMismatch: { try await whole(replacing: "From: alice", with: "From: bob", inside: true) },
        .cosigner: {
            let (own, other) = (Fixtures.certs.path + "/alice", Fixtures.certs.path + "/carol")
            let signers =
                "-signer \(own)/cert.pem -inkey \(own)/key.pem -signer \(other)/cert.pem -inkey \(other)/key.pem"
            let authorities = "-certfile \(Fixtures.certs.path)/ca/intermediate.pem -from alice@example.com"
            let mail = try OpenSSLCommand().cms("-sign -md sha256 \(signers) \(authorities)", input: plain)
            return try await opener().verify(MemorySource(mail)).report.signers.flatMap(\.identity.problems)
        },
        .signatureOutside: {
            let object = try signed(encrypted(plain))
            return try await opener().decrypt(MemorySource(object)).report.problems
        },
        .signerIsSender: {
            let mail = "From: bob@example.com\r\nSender: alice@example.com\r\n\r\nhello\r\n"
            let report = try await opener().verify(MemorySource(try signed(Array(mail.utf8)))).report
            return report.signers.flatMap(\.identity.problems)
        },
        .weakKey: {
            let report = try await opener().verify(MemorySource(try signed(plain, by: "weak"))).report
            return report.signers.flatMap(\.chain.problems)
        },
        .signerNotFrom: { try await identity(from: "bob@example.com") },
        .signingTimeFar: {
            let mail = Array("Date: 1 Jan 26 00:00 EST\r\n".utf8) + (try signed(plain))
            let report = try await opener().verify(MemorySource(mail)).report
            return report.signers.flatMap(\.time.problems)
        },
        .signingTimeFuture: {
            let opener = MessageOpener(try Keyring(people: []), at: .judged)
            let mail = try signed(plain, at: .judged.addingTimeInterval(86_400))
            let report = try await opener.verify(MemorySource(mail)).report
            return report.signers.flatMap(\.time.problems)
        },
        .smimeTypeUnderstated: {
            let text = String(decoding: try encrypted(plain), as: UTF8.self)
            let mail = text.replacing("smime-type=authEnveloped-data", with: "smime-type=enveloped-data")
            return try await opener().decrypt(MemorySource(Array(mail.utf8))).report.layers.flatMap(\.problems)
        },
        .tooDeep: {
            try inspect(String(repeating: "Content-Type: message/rfc822\r\n\r\n", count: 100) + "A: b\r\n\r\n")
        },
        .tooManyLayers: {
            var mail = plain
            for _ in 0..<12 { mail = try signed(mail, as: .opaque) }
            return try inspect(mail)
        },
        .tooManySignatures: {
            let part = "--b\r\n" + String(decoding: try signed(plain, as: .opaque), as: UTF8.self) + "\r\n"
            let head = "From: alice@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
            return try await verify(Array((head + String(repeating: part, count: 20) + "--b--\r\n").utf8))
        },
        .unauthenticated: {
            let report = try await opener().verify(MemorySource(encrypted(plain, .aes128CBC))).report
            return report.layers.flatMap(\.problems)
        },
        .weakCipher: {
            let recipient = Fixtures.certs.appending(path: "alice/cert.pem").path
            let object = try OpenSSLCommand().cms("-encrypt -outform DER -des3 -recip \(recipient)", input: plain)
            let report = try await opener().verify(cms: MemorySource(object).stream(), detached: nil).report
            return report.layers.flatMap(\.problems)
        },
        .unterminatedMultipart: { try inspect("Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nx\r\n") },
    ]

    private static let plain = Array("From: alice@example.com\r\nContent-Type: text/plain\r\n\r\nhello\r\n".utf8)

    private static func opener() throws -> MessageOpener { MessageOpener(try Keyring(people: ["alice"]), at: .judged) }

    private static func verify(_ bytes: [UInt8]) async throws -> [Problem] {
        try await opener().verify(MemorySource(bytes)).report.problems
    }

    private static func inspect(_ text: String) throws -> [Problem] { try inspect(Array(text.utf8)) }

    private static func inspect(_ bytes: [UInt8]) throws -> [Problem] {
        try Inspection(of: MemorySource(bytes), form: .message).allProblems
    }

    /// The problems of the signer's identity for the given From field.
    private static func identity(signer: String = "alice", from: String) async throws -> [Problem] {
        let mail = try signed(plain, by: signer)
        let text = String(decoding: mail, as: UTF8.self).replacing(/From: [^\r]*\r\n/, with: "", maxReplacements: 1)
        let field = from.isEmpty ? "" : "From: \(from)\r\n"
        let report = try await opener().verify(MemorySource(Array((field + text).utf8))).report
        return report.signers.flatMap(\.identity.problems)
    }

    /// The problems of a mail whose header was changed: outside after signing, or inside before.
    private static func whole(replacing old: String, with new: String, inside: Bool = false) async throws -> [Problem] {
        let mail = "From: alice@example.com\r\nTo: carol@example.com\r\n\r\nhello\r\n"
        let text = String(
            decoding: try signed(Array((inside ? mail.replacing(old, with: new) : mail).utf8)),
            as: UTF8.self
        )
        let changed =
            inside
            ? text.replacing(new, with: old, maxReplacements: 1) : text.replacing(old, with: new, maxReplacements: 1)
        let report = try await opener().verify(MemorySource(Array(changed.utf8))).report
        return report.problems + report.signers.flatMap(\.identity.problems)
    }

    private static func signed(
        _ mail: [UInt8],
        by name: String = "alice",
        as form: SignatureForm = .detached,
        at time: Date = .judged
    ) throws -> [UInt8] {
        let sink = MemorySink()
        try MessageProtector(MemorySource(mail)).sign(
            by: SignedDataWriter.Signer(TestIdentity(name).identityWithChain),
            as: form,
            at: time,
            to: sink
        )
        return sink.bytes
    }

    private static func encrypted(_ mail: [UInt8], _ cipher: ContentCipher = .aes256GCM) throws -> [UInt8] {
        let sink = MemorySink()
        let recipient = Recipient(unchecked: try Certificate(fixture: "alice/cert.pem"))
        try MessageProtector(MemorySource(mail)).encrypt(to: [recipient], cipher: cipher, at: .judged, to: sink)
        return sink.bytes
    }
}
