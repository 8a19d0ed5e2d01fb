import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import SMIME
import TestSupport
import Testing

/// Problems of signatures.
enum SignatureProblemCases {
    private typealias Handmade = HandmadeSignedData

    /// The problems of the signature in a mail that consists of a handmade object.
    private static func mail(_ change: (inout Handmade) -> Void) async throws -> [Problem] {
        var object = Handmade()
        change(&object)
        let type = "Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m"
        let head = "From: alice@example.com\r\n\(type)\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        let text = head + Data(object.bytes()).base64EncodedString(options: .lineLength64Characters) + "\r\n"
        let opener = MessageOpener(try Keyring(people: ["alice"]), at: .judged)
        return try await opener.verify(MemorySource(Array(text.utf8))).report.layers.flatMap(\.problems)
    }

    static let recipes: [ProblemCode: ProblemCaseTests.Recipe] = [
        .algorithmUnsupported: { try check { $0.digest = DER.sequence(DER.rsadsi(2, 99)) } },
        .attributeDoubled: {
            try check { $0.attributes = Handmade.usual + [capabilities, capabilities] }
        },
        .attributeUnsigned: { try check { $0.unsigned = [capabilities] } },
        .attributesMissing: { try await mail { _ in } },
        .certificateUnreadable: { try outline { $0.certificates = [DER.sequence([5, 0])] } },
        .cmsLimit: { try inspect(Handmade().bytes(signers: 17)) },
        .cmsMalformed: { try inspect(Array(Handmade().bytes().dropLast(2))) },
        .contentChanged: { try check { $0.attributes = Handmade.usual } },
        .contentEmbedded: { try hashed(Array("hello".utf8), besides: Array("hello".utf8)) },
        .contentIsAttributes: {
            try check { $0.content = DER.octets(DER.set(Handmade.attribute(3, DER.data))) }
        },
        .contentMismatch: { try hashed(Array("hello".utf8), besides: Array("good bye".utf8)) },
        .contentNotData: { try await mail { $0.contentType = DER.rsadsi(1, 9, 16, 1, 4) } },
        .contentNotMail: { try await mail { $0.content = DER.octets([1, 0, 0]) } },
        .contentNotOctets: { try outline { $0.content = DER.sequence([5, 0]) } },
        .contentTypeAttribute: {
            try check { $0.attributes = [Handmade.usual[1], Handmade.attribute(3, DER.rsadsi(1, 7, 5))] }
        },
        .contentTypeUnknown: { try inspect([0x30, 0x08, 0x06, 0x02, 0x2A, 0x03, 0xA0, 0x02, 0x05, 0x00]) },
        .crlUnreadable: { try outline { $0.lists = [DER.sequence([5, 0])] } },
        .digestMD5: { try check { $0.digest = DER.md5 } },
        .digestMismatch: { try check { ($0.algorithm, $0.digest) = (DER.rsaWithSHA256, DER.sha1) } },
        .digestNotAnnounced: { try check { $0.digests = [DER.sha1] } },
        .digestSHA1: { try check { $0.digest = DER.sha1 } },
        .messageDigestAttribute: { try check { $0.attributes = [Handmade.usual[0]] } },
        .noRecipients: {
            let body = DER.sequence([2, 1, 0], DER.set(), DER.sequence(DER.data, DER.sequence(DER.data)))
            return try inspect(DER.sequence(DER.rsadsi(1, 7, 3), DER.element(0xA0, body)))
        },
        .signatureDSA: {
            var factory = try CertificateFactory()
            try factory.makeDSAKey("one")
            try factory.issue("one", subject: "/CN=One", extensions: CertificateFactory.person("one@example.com"))
            let (certificate, key) = (factory.file("one.pem").path, factory.file("one.key").path)
            let options = "-sign -nodetach -outform DER -md sha256"
            return try check(OpenSSLCommand().cms("\(options) -signer \(certificate) -inkey \(key)", input: [1]))
        },
        .signatureInvalid: {
            var signed = try signature(of: [1], by: "alice")
            signed[signed.count - 1] ^= 1
            return try check(signed)
        },
        .signerAmbiguous: {
            var signed = try signature(of: [1], by: "alice")
            signed[signed.count - 1] ^= 1
            let alice = try Certificate(fixture: "alice/cert.pem")
            return try check(signed, candidates: [Certificate](repeating: alice, count: 10_000))
        },
        .signerCertificateMismatch: {
            let signed = try signature(of: [1], by: "alice", usesKeyIdentifier: true)
            return try check(signed, candidates: [Certificate(fixture: "alice-reissued/cert.pem")])
        },
        .signerCertificateMissing: { try check { _ in } },
        .signingTimeMalformed: {
            try check { $0.attributes = Handmade.usual + [Handmade.attribute(5, DER.element(0x17, [0x30]))] }
        },
        .trailingBytes: { try inspect(Handmade().bytes() + [0]) },
    ]

    private static let capabilities = HandmadeSignedData.attribute(15, DER.sequence())

    /// The problems found when checking the signature of a handmade object.
    private static func check(_ change: (inout HandmadeSignedData) -> Void) throws -> [Problem] {
        var made = HandmadeSignedData()
        change(&made)
        return try check(made.bytes(), candidates: [])
    }

    private static func check(_ bytes: [UInt8], candidates: [Certificate]? = nil) throws -> [Problem] {
        let data = try SignedData(reading: MemorySource(bytes).stream())
        let signer = try #require(data.signers.first)
        return data.check(signer, candidates: candidates ?? data.certificates).problems
    }

    private static func outline(_ change: (inout HandmadeSignedData) -> Void) throws -> [Problem] {
        var made = HandmadeSignedData()
        change(&made)
        return try inspect(made.bytes())
    }

    private static func inspect(_ bytes: [UInt8]) throws -> [Problem] {
        try CMSOutline(reading: MemorySource(bytes).stream(), content: CountingSink()).problems
    }

    /// The problems found if `content` is inside the signature and `other` beside it.
    private static func hashed(_ content: [UInt8], besides other: [UInt8]) throws -> [Problem] {
        var data = try SignedData(reading: MemorySource(signature(of: content, by: "alice")).stream())
        try data.hashDetached(MemorySource(other).stream())
        return data.problems
    }

    private static func signature(
        of content: [UInt8],
        by name: String,
        usesKeyIdentifier: Bool = false
    ) throws -> [UInt8] {
        var signer = try SignedDataWriter.Signer(TestIdentity(name).identityWithChain)
        signer.usesKeyIdentifier = usesKeyIdentifier
        let (digest, count) = try SignedDataWriter.digest(.sha256) { try $0.write(content) }
        let writer = try SignedDataWriter(signer: signer, contentDigest: digest, contentCount: count, time: .judged)
        let sink = MemorySink()
        try writer.write(to: sink) { try $0.write(content) }
        return sink.bytes
    }
}
