import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport

/// A store with identities of some people and certificates of others, in a home of its own.
final class Office: Sendable {
    /// A time at which the test certificates are judged.
    static let time = Date(timeIntervalSince1970: 1_793_491_200)

    let store: Store
    let home: String

    /// - Parameters:
    ///   - people: whose keys there are.
    ///   - others: whose certificates are known.
    init(of people: [String] = ["alice"], knowing others: [String] = ["bob", "p384", "p521"]) async throws {
        home = NSTemporaryDirectory() + "smime-filter-\(UUID().uuidString)"
        store = try await Store.open(StoreLocation(home: home), mode: .readWrite)
        var batch = ImportBatch()
        for name in people {
            let file = try PKCS12(Fixtures.cert("\(name)/\(name).p12"), passphrase: Passphrase("test".utf8))
            batch.identities += file.identities.map {
                .init($0, accounts: $0.certificate.emailAddresses, isAssigned: false)
            }
        }
        batch.anchors = [try Self.certificate("ca/root.pem")]
        batch.intermediates = [try Self.certificate("ca/intermediate.pem")]
        for name in others {
            let certificate = try Self.certificate("\(name)/cert.pem")
            batch.recipients.append(.init(certificate: certificate, addresses: certificate.recipientScopes))
        }
        _ = try await store.add(batch, at: Self.time)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    /// Opens mail with the keys and anchors of the store.
    var opener: MessageOpener { MessageOpener(StoreKeyProvider(store, systemAnchors: false), at: Self.time) }

    /// The folder `name` in the home, made anew with `files`.
    func folder(_ name: String, _ files: [String: [UInt8]]) throws -> String {
        let path = "\(home)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (file, bytes) in files { try Data(bytes).write(to: URL(filePath: "\(path)/\(file)")) }
        return path
    }

    /// What becomes of a message from `sender`, by the store's settings.
    func plan(
        from sender: String,
        to recipients: [String],
        header: String? = nil,
        flags: ProtectionRequest = ProtectionRequest(),
        terms: ValidationOptions = ValidationOptions()
    ) async throws -> OutgoingPlan {
        let filter = OutgoingFilter(store: store, time: Self.time, systemAnchors: false, terms: terms, flags: flags)
        let header = header ?? "From: \(sender)\nTo: \(recipients.joined(separator: ", "))\n"
        return try await filter.plan(
            MemorySource(Array("\(header)\nMeet me at eight.\n".utf8)),
            from: .address(EmailAddress(sender)),
            to: recipients.map { try EmailAddress($0) }
        )
    }

    static func certificate(_ name: String) throws -> Certificate {
        for case .certificate(let certificate) in try KeyMaterial.read(Fixtures.cert(name)) { return certificate }
        throw CocoaError(.fileReadCorruptFile)
    }
}

extension OutgoingPlan {
    /// The message with this number, written out.
    func source(_ index: Int) throws -> MemorySource {
        let sink = MemorySink()
        try write(messages[index], to: sink)
        return MemorySource(sink.bytes)
    }
}
