import Foundation
import PKIX

/// The database columns of a recipient's certificate with which it can be judged without parsing.
struct VerdictRecord: Sendable {
    /// Identifies certificates that, according to the names, have the same possible CA certificates and revocation lists.
    struct Group: Hashable, Sendable {
        /// The `matchingKey` of the issuer.
        let issuer: [UInt8]
        /// The hash with which the system's folder of anchors names the issuer; nil if there is no such hash.
        let issuerHash: UInt32?
        /// The certificate's fingerprint if another CA than the issuer publishes its revocation lists: then the group has
        /// only this certificate. Otherwise nil.
        let alone: [UInt8]?
    }

    /// The row ID of the certificate.
    let certificate: Int64
    let fingerprint: [UInt8]
    let group: Group
    /// The `matchingKey` of the subject.
    let subject: [UInt8]
    let usage: CertificateRecord.Usage
    /// The validity period, in seconds since 1970.
    let notBefore, notAfter: Int
    /// Whether the verdict depends on a pin of this certificate.
    let byPin: Bool
    /// Whether the certificate is an anchor, or has a stored OCSP response. Verdicts on such certificates are not
    /// stored.
    let isSpecial: Bool
    let stored: StoredVerdict?
}

extension VerdictRecord {
    /// The columns to select. They include the stored verdict only if the database stores verdicts.
    static func columns(in database: SQLDatabase) -> String {
        database.storesVerdicts ? ownColumns + storedColumns : ownColumns
    }

    /// The joins that `columns` need in addition to `recipient` and `certificate`.
    static func joins(in database: SQLDatabase) -> String { database.storesVerdicts ? storedJoin : "" }

    private static let ownColumns = """
        certificate.id, certificate.fingerprint, certificate.subject_key, issuer_key, issuer_hash, usage, not_before, not_after,
            EXISTS (SELECT 1 FROM anchor WHERE anchor.certificate = certificate.id)
                OR EXISTS (SELECT 1 FROM ocsp_response WHERE ocsp_response.certificate = name_digest) AS is_special
        """
    private static let storedColumns = ", basis, since, until, trusted, pinned, revocation"
    private static let storedJoin = """
        LEFT JOIN verdict ON verdict.certificate = certificate.id
            AND by_pin = CASE WHEN recipient.trust = 'pinned' THEN 1 ELSE 0 END
        """

    /// - Parameter row: a row with the columns of `columns`.
    init(_ row: SQLRow, isPinned: Bool) throws {
        let usage = CertificateRecord.Usage(rawValue: try row.value("usage"))
        let fingerprint: [UInt8] = try row.value("fingerprint")
        self.init(
            certificate: try row.value("id"),
            fingerprint: fingerprint,
            group: Group(
                issuer: try row.value("issuer_key"),
                issuerHash: try (row.optional("issuer_hash") as Int?).flatMap(UInt32.init(exactly:)),
                alone: usage.contains(.foreignLists) ? fingerprint : nil
            ),
            subject: try row.value("subject_key"),
            usage: usage,
            notBefore: try row.value("not_before"),
            notAfter: try row.value("not_after"),
            byPin: isPinned,
            isSpecial: try row.value("is_special"),
            stored: try StoredVerdict(row)
        )
    }
}

extension VerdictRecord {
    /// This record with its columns computed from `certificate`.
    func describing(_ certificate: Certificate) throws -> VerdictRecord {
        let usage = CertificateRecord.Usage(of: certificate)
        return VerdictRecord(
            certificate: self.certificate,
            fingerprint: certificate.fingerprint.bytes,
            group: Group(
                issuer: try certificate.issuer.matchingKey,
                issuerHash: certificate.issuer.systemHash,
                alone: usage.contains(.foreignLists) ? certificate.fingerprint.bytes : nil
            ),
            subject: try certificate.subject.matchingKey,
            usage: usage,
            notBefore: certificate.notBefore.seconds,
            notAfter: certificate.notAfter.seconds,
            byPin: byPin,
            isSpecial: isSpecial,
            stored: stored
        )
    }
}

extension StoredVerdict {
    /// Nil if there is no stored verdict, or if it cannot be decoded.
    fileprivate init?(_ row: SQLRow) throws {
        guard let basis: [UInt8] = try row.optional("basis") else { return nil }
        let name: String? = try row.optional("revocation")
        let revocation = name.flatMap(ChainVerdict.Revocation.Status.init)
        guard name == nil || revocation != nil else { return nil }
        verdict = RecipientVerdict(
            isTrusted: try row.value("trusted"),
            isPinned: try row.value("pinned"),
            revocation: revocation
        )
        self.basis = basis
        (since, until) = (try row.value("since"), try row.value("until"))
    }
}
