import Foundation
package import InternetMessage
package import PKIX
import SMIME

/// The table of certificates. Each certificate has one row, to which accounts, recipients and anchors refer.
enum CertificateRecord {
    /// The usage of a certificate, as bits for queries.
    struct Usage: OptionSet {
        let rawValue: Int

        static let signing = Usage(rawValue: 1)
        static let encryption = Usage(rawValue: 2)
        static let authority = Usage(rawValue: 4)
        /// Extended key usage and key usage permit encryption to the certificate, which may also be a CA certificate.
        static let keyEncryption = Usage(rawValue: 8)
        static let weakKey = Usage(rawValue: 16)
        /// Another CA than the issuer publishes the revocation lists about the certificate.
        static let foreignLists = Usage(rawValue: 32)
        /// The usage depends on libcrypto, and must be determined on each host.
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
            // Curves that this program has no name for are known to libcrypto only.
            case .ellipticCurve(let name) where name.first?.isNumber != true: break
            default: insert(.libraryDependent)
            }
        }
    }

    /// The row ID of `certificate`. Inserts the row if there is none.
    ///
    /// If a forged row has the fingerprint of `certificate`, corrects the row to match the certificate. Without this, a
    /// decision about the fingerprint would apply to another certificate. A gateway's role cannot correct a row on a
    /// server, and makes no decisions: there the row stays as it is.
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

    /// The columns of a new row. `StoreRole` names them, too.
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

    /// The columns that describe a certificate, as a column list for the query that reads the rows for `changes`.
    static let described = columns.map { "certificate.\($0)" }.joined(separator: ", ")

    /// The columns of `row` that do not match `certificate`, with the correct values.
    ///
    /// - Parameter row: a row with at least the columns in `described`.
    static func changes(of row: SQLRow, to certificate: Certificate) throws -> [(column: String, value: SQLValue)] {
        // The usage of some keys depends on the host's libcrypto.
        let dependent = Usage(of: certificate).contains(.libraryDependent)
        let stored = Dictionary(row.stored.map { ($0.column, $0.value) }) { first, _ in first }
        return zip(columns, try values(of: certificate).values).filter { column, value in
            stored[column] != value && !(dependent && column == "usage")
        }.map { ($0, $1) }
    }

    /// Corrects the row `id` if it does not match `certificate`.
    private static func mend(_ id: Int64, _ certificate: Certificate, in database: SQLDatabase) throws {
        guard let row = try database.row("SELECT \(described) FROM certificate WHERE id = ?", [id]) else { return }
        let wanted = try changes(of: row, to: certificate)
        // The server ensures that the certificate in a row has the row's fingerprint. The other columns only describe it.
        if !wanted.isEmpty, !wanted.contains(where: { $0.column == "der" }), try !database.isOwner() { return }
        try mend(id, wanted, in: database)
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

    /// Deletes the certificates in `ids` that nothing refers to any more.
    static func removeUnused(_ ids: [Int64], from database: SQLDatabase) throws {
        let statement = "DELETE FROM certificate WHERE id = ? AND \(isUnused)"
        for id in ids { try database.execute(statement, [id]) }
    }

    /// The SQL condition for certificates that nothing refers to.
    static let isUnused = """
        NOT EXISTS (SELECT 1 FROM private_key WHERE private_key.certificate = certificate.id)
            AND NOT EXISTS (SELECT 1 FROM recipient WHERE recipient.certificate = certificate.id)
            AND NOT EXISTS (SELECT 1 FROM intermediate WHERE intermediate.certificate = certificate.id)
            AND NOT EXISTS (SELECT 1 FROM anchor WHERE anchor.certificate = certificate.id)
        """
}

extension SQLRow {
    /// The certificate in column `der`.
    ///
    /// - Throws: `CMSError.malformed`, also if the certificate does not have the fingerprint in column `fingerprint`.
    func certificate() throws -> Certificate {
        let certificate = try Certificate(der: value("der") as [UInt8])
        guard try certificate.fingerprint.bytes == value("fingerprint") as [UInt8] else {
            throw CMSError.malformed(.certificate, "it is not the one that was stored")
        }
        return certificate
    }

    /// The address in column `name`.
    func address(_ name: String) throws -> EmailAddress { try EmailAddress(value(name) as String) }

    /// The time in column `name`.
    func date(_ name: String) throws -> Date { try value(name) }
}

extension Certificate {
    /// Whether `address` is one of the certificate's addresses. Ignores case, and whether a domain is written with U-labels
    /// or A-labels.
    package func names(_ address: EmailAddress) -> Bool {
        emailAddresses.contains(address)
    }

    /// Whether `scope` is an address of the certificate, or the domain of one of the certificate's addresses.
    package func names(_ scope: AddressScope) -> Bool { emailAddresses.contains(where: scope.contains) }

    /// Whether both certificates can sign, or both can be encrypted to.
    func sharesUse(with other: Certificate) -> Bool {
        (canSign && other.canSign) || (canEncrypt && other.canEncrypt)
    }

    /// The addresses for which mail can be encrypted to the certificate. Never a whole domain, even if the certificate
    /// names `domain-confidentiality-authority` (RFC 3183): a person who gets a mailbox of that name at a provider also
    /// gets a certificate for it. A user can choose the certificate for the domain.
    package var recipientScopes: [AddressScope] { ownAddresses.map { AddressScope($0) } }

    /// The mailboxes that the certificate names. A name like `*@example.com` is no mailbox.
    package var ownAddresses: [EmailAddress] { emailAddresses.filter { $0.localPart != "*" } }
}

/// The columns that describe a certificate in the database, so that lists can be shown without parsing certificates.
///
/// In a file the columns are not verified: only the owner of the store can write them, and the owner could change the
/// certificates as well. In a database on a server gateways can also write them, so no decision depends on them
/// (`SQLConnection.storesVerdicts`).
/// `columns` and `arguments` are in the same order.
struct CertificateDescription {
    static let columns = [
        "usage", "public_key", "subject_name", "issuer_name", "addresses", "issuer_key", "issuer_hash", "name_digest",
    ]

    /// Separates addresses in a column. No address contains a control character.
    static let separator = "\n"

    let arguments: SQLArguments

    init(of certificate: Certificate) throws {
        arguments = [
            CertificateRecord.Usage(of: certificate).rawValue, certificate.publicKeyDigest.bytes,
            certificate.subject.description, certificate.issuer.description,
            certificate.addresses.joined(separator: Self.separator), try certificate.issuer.matchingKey,
            certificate.issuer.systemHash.map { Int($0) }, try certificate.nameDigest.bytes,
        ]
    }
}
