import Foundation
import PKIX

/// The columns of a recipient's certificate that judge it without parsing it.
struct VerdictRecord: Sendable {
    /// Certificates with the same authorities and revocation lists above them, as far as names tell.
    struct Group: Hashable, Sendable {
        /// The `matchingKey` of the issuer.
        let issuer: [UInt8]
        /// By which the system's folder of anchors would name the issuer; nil if it cannot.
        let issuerHash: UInt32?
        /// The fingerprint, where others than the issuer issue revocation lists: then the group is of one.
        let alone: [UInt8]?
    }

    /// The row of the certificate.
    let certificate: Int64
    let fingerprint: [UInt8]
    let group: Group
    /// The `matchingKey` of the subject.
    let subject: [UInt8]
    let usage: CertificateRecord.Usage
    /// Seconds since 1970.
    let notBefore, notAfter: Int
    /// Whether the verdict is asked for a certificate that was pinned itself.
    let byPin: Bool
    /// Whether the certificate is an anchor, or an answer of a responder about it is remembered: such verdicts are not kept.
    let isSpecial: Bool
    let kept: KeptVerdict?
}

extension VerdictRecord {
    /// The columns, without a kept verdict where none are believed.
    static func columns(in database: SQLDatabase) -> String {
        database.keepsVerdicts ? ownColumns + keptColumns : ownColumns
    }

    /// What `columns` need beside `recipient` and `certificate`.
    static func joins(in database: SQLDatabase) -> String { database.keepsVerdicts ? keptJoin : "" }

    private static let ownColumns = """
        certificate.id, certificate.fingerprint, certificate.subject_key, issuer_key, issuer_hash, usage, not_before, not_after,
            EXISTS (SELECT 1 FROM anchor WHERE anchor.certificate = certificate.id)
                OR EXISTS (SELECT 1 FROM ocsp_response WHERE ocsp_response.certificate = name_digest) AS is_special
        """
    private static let keptColumns = ", basis, since, until, trusted, pinned, revocation"
    private static let keptJoin = """
        LEFT JOIN verdict ON verdict.certificate = certificate.id
            AND by_pin = CASE WHEN recipient.trust = 'pinned' THEN 1 ELSE 0 END
        """

    /// - Parameter row: has the columns of `columns`.
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
            kept: try KeptVerdict(row)
        )
    }
}

extension VerdictRecord {
    /// The same row, with what its columns should say about `certificate`.
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
            kept: kept
        )
    }
}

extension KeptVerdict {
    /// Nil if none is kept, or one that cannot be understood.
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
