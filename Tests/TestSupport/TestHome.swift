import Foundation
import InternetMessage
import PKIX
import SMIME
package import SMIMEStore

/// A store with identities of some people and certificates of others, in its own home.
package final class TestHome: Sendable {
    package let store: Store
    private let temporary: TemporaryFolder

    /// The path of the store.
    package var path: String { temporary.file("store").path }

    /// - Parameters:
    ///   - people: the names of people whose keys are added, for the addresses in their certificates.
    ///   - account: the account to which the first key is added by hand instead.
    ///   - others: the names of people whose certificates are added.
    package init(
        of people: [String] = ["alice"],
        assigned account: String? = nil,
        knowing others: [String] = []
    ) async throws {
        temporary = try TemporaryFolder()
        store = try await Store.open(StoreLocation(home: temporary.file("store").path), mode: .readWrite)
        var batch = try ImportBatch.authorities()
        for name in people {
            let identities = try PKCS12(Fixtures.cert("\(name)/\(name).p12"), passphrase: "test").identities
            batch.identities += try identities.map { identity in
                let addresses = try account.map { [try EmailAddress($0)] } ?? identity.certificate.emailAddresses
                return .init(identity, accounts: addresses, isAssigned: account != nil)
            }
        }
        for name in others {
            let certificate = try Certificate(fixture: "\(name)/cert.pem")
            batch.recipients.append(.init(certificate: certificate, addresses: certificate.recipientScopes))
        }
        _ = try await store.add(batch, at: .judged)
    }

    /// Makes the folder `name` in the home, with `files`.
    package func folder(_ name: String, _ files: [String: [UInt8]]) throws -> String {
        let folder = temporary.file(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (file, bytes) in files { try Data(bytes).write(to: folder.appending(path: file)) }
        return folder.path
    }
}
