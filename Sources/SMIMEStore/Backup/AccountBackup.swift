import Foundation
import PKIX

/// The contents of an account backup, as JSON inside the encrypted file.
///
/// Each certificate is stored once, and referred to by fingerprint. Private keys are in PKCS#12 files of their own, so
/// that other programs can read them from the content, too. Times are seconds since 1970.
struct AccountBackup: Codable, Sendable {
    /// The form that this program writes. New optional keys do not change it.
    static let schema = 1

    struct Account: Codable, Sendable {
        let address: String
        let name: String?
        let headerConfidentiality: String?
        /// The cipher of the rule for what the account sends; nil if there is none.
        let cipher: String?
        let created: Int
        let aliases: [String]
        let identities: [Identity]
        /// PKCS#12 files, under the passphrase of the backup, with the keys of all identities.
        let keys: [Data]
    }

    struct Identity: Codable, Sendable {
        let fingerprint: Fingerprint
        let assigned: Bool
        let pinned: Bool
        let added: Int
    }

    struct Recipient: Codable, Sendable {
        let address: String
        let fingerprint: Fingerprint
        let source: String
        let sourceDetail: String?
        let firstSeen: Int
        let lastSeen: Int
        let trust: String
        let capabilities: Data?
        let capabilitiesTime: Int?
    }

    struct Rule: Codable, Sendable {
        let side: String
        let pattern: String
        let sign: String?
        let encrypt: String?
        let override: String?
        let missing: String?
        let protected: String?
        let decryptAtGateway: String?
    }

    struct Authority: Codable, Sendable {
        let fingerprint: Fingerprint
        /// When it was made a trust anchor; nil for one that is none.
        let anchored: Int?
    }

    let schema: Int
    let created: Int
    let accounts: [Account]
    /// Certificates in DER, each once; those of identities are in their PKCS#12 files as well.
    let certificates: [Data]
    /// Anchors and intermediates, by which the certificates are judged.
    let authorities: [Authority]
    let revocationLists: [Data]
    let recipients: [Recipient]
    let policy: [Rule]

    /// The version alone, which is looked at before anything else.
    private struct Version: Decodable {
        let schema: Int
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Reads what `encoded` wrote.
    ///
    /// - Throws: `KeystoreError.malformedBackup`, `.newerBackup`
    static func decoded(_ bytes: [UInt8], path: String) throws(KeystoreError) -> AccountBackup {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = Data(bytes)
        guard let version = try? decoder.decode(Version.self, from: data) else {
            throw KeystoreError.malformedBackup(path: path, detail: "it holds no account")
        }
        guard version.schema <= schema else {
            throw KeystoreError.newerBackup(path: path, found: version.schema, known: schema)
        }
        do { return try decoder.decode(AccountBackup.self, from: data) } catch {
            throw KeystoreError.malformedBackup(path: path, detail: "it holds something else than accounts")
        }
    }
}
