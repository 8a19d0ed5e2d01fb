import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEStore
import TestSupport

/// A store with identities of some people and certificates of others, in a home of its own.
final class AgentHome: Sendable {
    let store: Store
    private let home: String

    /// - Parameters:
    ///   - people: whose keys there are, for the addresses that their certificates name.
    ///   - account: the account that gets the first of them instead, by hand.
    ///   - others: whose certificates are known.
    init(of people: [String] = ["alice"], assigned account: String? = nil, knowing others: [String] = []) async throws {
        home = NSTemporaryDirectory() + "smime-agent-\(UUID().uuidString)"
        store = try await Store.open(StoreLocation(home: home), mode: .readWrite)
        var batch = ImportBatch()
        for name in people {
            let file = try PKCS12(Fixtures.cert("\(name)/\(name).p12"), passphrase: Passphrase("test".utf8))
            batch.identities += try file.identities.map { identity in
                guard let account else {
                    return .init(identity, accounts: identity.certificate.emailAddresses, isAssigned: false)
                }
                return .init(identity, accounts: [try EmailAddress(account)], isAssigned: true)
            }
        }
        batch.anchors = [try Self.certificate("ca/root.pem")]
        batch.intermediates = [try Self.certificate("ca/intermediate.pem")]
        for name in others {
            let certificate = try Self.certificate("\(name)/cert.pem")
            batch.recipients.append(.init(certificate: certificate, addresses: certificate.recipientScopes))
        }
        _ = try await store.add(batch, at: .judged)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    static func certificate(_ name: String) throws -> Certificate {
        for case .certificate(let certificate) in try KeyMaterial.read(Fixtures.cert(name)) { return certificate }
        throw CocoaError(.fileReadCorruptFile)
    }
}

/// The header of a message.
func header(_ fields: String...) throws -> HeaderBlock {
    try HeaderBlock(parsing: Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8))
}
