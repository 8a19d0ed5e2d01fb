import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEStore
import TestSupport
import Testing

/// Backups of accounts with many keys can be read again.
@Suite struct AccountBackupTests {
    private func restored(_ backup: [UInt8]) async throws -> [Identity] {
        let home = try TemporaryHome()
        let store = try await home.open()
        let restoration = try Restoration(backup, passphrase: Passphrase("test".utf8), path: "backup")
        _ = try await store.restore(restoration, setting: "nothing") { $0 }
        return try await store.accounts.identities(of: EmailAddress("zoe@example.org"))
    }

    @Test func `an account with 130 identities is restored from its backup`() async throws {
        let factory = try CertificateFactory()
        try factory.sh(
            """
            for i in $(seq 130); do
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout one.key -subj /CN=$i -days 3650 \
            -addext basicConstraints=CA:FALSE -addext subjectAltName=email:zoe@example.org -out one.pem 2>/dev/null
            cat one.key one.pem >>all.pem
            done
            """
        )
        var batch = ImportBatch()
        var key: PrivateKey?
        for item in try KeyMaterial.read(factory.bytes("all.pem")) {
            switch item {
            case .privateKey(let encoded): key = try encoded.decode(passphrase: nil)
            case .certificate(let certificate):
                let accounts = certificate.emailAddresses
                batch.identities.append(
                    .init(Identity(unchecked: certificate, try #require(key)), accounts: accounts, isAssigned: false)
                )
            default: Issue.record("neither key nor certificate")
            }
        }
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(batch, at: .judged)
        let backup = try await store.backupAccounts(
            [EmailAddress("zoe@example.org")],
            passphrase: Passphrase("test".utf8),
            at: Date.judged
        )
        let keys = try await restored(backup)
        #expect(Set(keys.map(\.certificate)) == Set(batch.identities.map(\.identity.certificate)))
        #expect(keys.allSatisfy { $0.key.belongs(to: $0.certificate) })
    }
}
