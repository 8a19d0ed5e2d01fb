import Foundation
package import InternetMessage
package import PKIX
import SMIME

/// The one row of each certificate, shared by accounts, recipients and anchors.
enum CertificateRecord {
    /// The uses of a certificate, as bits for queries.
    struct Usage: OptionSet {
        let rawValue: Int

        static let signing = Usage(rawValue: 1)
        static let encryption = Usage(rawValue: 2)
        static let authority = Usage(rawValue: 4)
        /// Purpose and key usage let mail be encrypted to it, also where it is an authority's.
        static let keyEncryption = Usage(rawValue: 8)
        static let weakKey = Usage(rawValue: 16)
        /// Others than its issuer issue revocation lists about it.
        static let foreignLists = Usage(rawValue: 32)
        /// The use depends on libcrypto, and must be asked each time.
        static let libraryDependent = Usage(rawValue: 64)

        init(rawValue: Int) { self.rawValue = rawValue }

        init(of certificate: Certificate) {
            self = certificate.isCertificateAuthority ? .authority : []
            if certificate.canSign { insert(.signing) }
            if certificate.canEncrypt { insert(.encryption) }
            if certificate.keyAllowsEncryption { insert(.keyEncryption) }
            if certificate.publicKeyAlgorithm.isWeak { insert(.weakKey) }
            if !certificate.revocationListIssuers.isEmpty { insert(.foreignLists) }
            switch certificate.publicKeyAlgorithm {
            case .dsa, .rsa, .rsaPSS, .ed25519, .x25519: break
            // Only libcrypto knows curves without a name in this program.
            case .ellipticCurve(let name) where name.first?.isNumber != true: break
            default: insert(.libraryDependent)
            }
        }
    }

    /// The row of `certificate`, made if there is none.
    ///
    /// A forged row with its fingerprint is corrected to match the certificate: a decision about a fingerprint must not count for other
    /// content.
    static func insert(_ certificate: Certificate, into database: SQLDatabase) throws -> Int64 {
        if let row = try id(of: certificate.fingerprint, in: database) {
            try mend(row, certificate, in: database)
            return row
        }
        return try database.insert(
            """
            INSERT INTO certificate (\(columns.joined(separator: ", ")))
            VALUES (?\(String(repeating: ", ?", count: columns.count - 1)))
            """,
            try values(of: certificate)
        )
    }

    private static let columns =
        [
            "fingerprint", "der", "subject_key", "issuer", "serial", "key_identifier", "not_before", "not_after",
        ] + CertificateDescription.columns

    private static func values(of certificate: Certificate) throws -> SQLArguments {
        try [
            certificate.fingerprint.bytes, certificate.der, certificate.subject.matchingKey,
            certificate.issuer.der, certificate.serialNumber,
            certificate.subjectKeyIdentifier, certificate.notBefore.seconds,
            certificate.notAfter.seconds,
        ] + CertificateDescription(of: certificate).arguments
    }

    /// The columns that describe a certificate, for `changes`.
    static let described = columns.map { "certificate.\($0)" }.joined(separator: ", ")

    /// The columns of `row` that say something else than `certificate` does, with what they should say.
    ///
    /// - Parameter row: has at least `described`.
    static func changes(of row: SQLRow, to certificate: Certificate) throws -> [(column: String, value: SQLValue)] {
        // The uses of some keys depend on the libcrypto of the host.
        let dependent = Usage(of: certificate).contains(.libraryDependent)
        let stored = Dictionary(row.stored.map { ($0.column, $0.value) }) { first, _ in first }
        return zip(columns, try values(of: certificate).values).filter { column, value in
            stored[column] != value && !(dependent && column == "usage")
        }.map { ($0, $1) }
    }

    /// Brings the row `id` in line with `certificate`, if it is not.
    private static func mend(_ id: Int64, _ certificate: Certificate, in database: SQLDatabase) throws {
        guard let row = try database.row("SELECT \(described) FROM certificate WHERE id = ?", [id]) else { return }
        try mend(id, changes(of: row, to: certificate), in: database)
    }

    static func mend(_ id: Int64, _ wanted: [(column: String, value: SQLValue)], in database: SQLDatabase) throws {
        guard !wanted.isEmpty else { return }
        let names = wanted.map(\.column)
        try database.execute(
            "UPDATE certificate SET \(names.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?",
            SQLArguments(storing: wanted.map(\.value)) + [id]
        )
    }

    static func id(of fingerprint: Fingerprint, in database: SQLDatabase) throws -> Int64? {
        try database.value("SELECT id FROM certificate WHERE fingerprint = ?", [fingerprint.bytes], as: Int64.self)
    }

    /// Forgets certificates that nothing refers to any more.
    static func removeUnused(_ ids: [Int64], from database: SQLDatabase) throws {
        let statement = "DELETE FROM certificate WHERE id = ? AND \(isUnused)"
        for id in ids { try database.execute(statement, [id]) }
    }

    /// True of certificates that nothing refers to.
    static let isUnused = """
        NOT EXISTS (SELECT 1 FROM private_key WHERE private_key.certificate = certificate.id)
            AND NOT EXISTS (SELECT 1 FROM recipient WHERE recipient.certificate = certificate.id)
            AND NOT EXISTS (SELECT 1 FROM intermediate WHERE intermediate.certificate = certificate.id)
            AND NOT EXISTS (SELECT 1 FROM anchor WHERE anchor.certificate = certificate.id)
        """
}

extension SQLRow {
    /// The certificate in column `der`.
    func certificate() throws -> Certificate { try Certificate(der: value("der") as [UInt8]) }

    /// The address in column `name`.
    func address(_ name: String) throws -> EmailAddress { try EmailAddress(value(name) as String) }

    /// The time in column `name`.
    func date(_ name: String) throws -> Date { try value(name) }
}

extension Certificate {
    /// Whether `address` is one of the certificate's addresses, without regard to case and to how a domain is written.
    package func names(_ address: EmailAddress) -> Bool {
        addresses.contains { (try? EmailAddress($0)) == address }
    }

    /// Whether `scope` is one of the certificate's addresses, or the domain of one of them.
    package func names(_ scope: AddressScope) -> Bool { emailAddresses.contains(where: scope.contains) }

    /// The addresses that mail is encrypted to with it: its own, and the whole domain for the certificate of a gateway,
    /// which names `domain-confidentiality-authority`. A name like `*@example.com` counts for no address.
    ///
    /// RFC 3183
    package var recipientScopes: [AddressScope] {
        ownAddresses.map { AddressScope($0) }
            + emailAddresses.filter { $0.localPart.lowercased() == "domain-confidentiality-authority" }
            .map(AddressScope.init(domainOf:))
    }

    /// The mailboxes that it names. A name like `*@example.com` is none.
    package var ownAddresses: [EmailAddress] { emailAddresses.filter { $0.localPart != "*" } }
}
