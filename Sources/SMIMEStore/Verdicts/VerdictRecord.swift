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
    let isNeverStored: Bool
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
                OR name_digest IN (SELECT substr(ocsp_response.certificate, 1, 32) FROM ocsp_response) AS is_special
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
            isNeverStored: try row.value("is_special"),
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
            isNeverStored: isNeverStored,
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

/// A stored verdict on a certificate, with what the verdict depends on and when it is valid.
///
/// A stored verdict is used if a new verdict would depend on the same `basis`, and the time is between `since` and `until`.
/// Nothing else is checked. So verdicts are stored only in a file, which only the store's owner can write; the owner could
/// add a trust anchor as well. Authenticating the verdicts would not help, because the key would be beside them. Gateways
/// also write to a database on a server, and must not decide whom other gateways trust, so there verdicts are neither
/// written nor read (`SQLConnection.storesVerdicts`).
struct StoredVerdict: Sendable {
    let verdict: RecipientVerdict
    /// The digest of everything on which the verdict depends, except the time.
    let basis: [UInt8]
    /// The last second before and the first second after the period in which the verdict is valid, as seconds since 1970.
    let since, until: Int

    /// Whether the verdict is valid at `time`, in whole seconds.
    func holds(at time: Int) -> Bool { since < time && time < until }
}

/// A new verdict that is to be stored.
struct NewVerdict: Sendable {
    /// The row ID of the certificate.
    let certificate: Int64
    /// Whether the verdict depends on a pin of the certificate.
    let byPin: Bool
    let stored: StoredVerdict

    /// Stores `verdicts`, replacing earlier ones. A verdict on a deleted certificate is ignored; if another certificate has
    /// its row ID now, the verdict's basis does not match that certificate. Does nothing if the database does not store
    /// verdicts.
    static func keep(_ verdicts: [NewVerdict], in database: SQLDatabase) throws {
        guard database.storesVerdicts else { return }
        let insert = """
            INSERT INTO verdict (certificate, by_pin, basis, since, until, trusted, pinned, revocation)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM certificate WHERE id = ?1)
            ON CONFLICT (certificate, by_pin) DO UPDATE SET basis = excluded.basis, since = excluded.since,
                until = excluded.until, trusted = excluded.trusted, pinned = excluded.pinned,
                revocation = excluded.revocation
            """
        for new in verdicts {
            let (stored, verdict) = (new.stored, new.stored.verdict)
            try database.execute(
                insert,
                [
                    new.certificate, new.byPin, stored.basis, stored.since, stored.until, verdict.isTrusted,
                    verdict.isPinned, verdict.revocation?.rawValue,
                ],
                isCounted: false
            )
        }
    }
}

/// The parts of a verdict on a chain that matter for choosing a recipient's certificate.
struct RecipientVerdict: Hashable, Sendable {
    /// Whether the chain leads to an anchor or the certificate is pinned, and the chain has no errors at the time.
    let isTrusted: Bool
    /// Whether the certificate is trusted because it is pinned.
    let isPinned: Bool
    /// The revocation status; nil if it was not checked.
    let revocation: ChainVerdict.Revocation.Status?
    /// Why a better verdict may be right; nil if the check was complete. Only verdicts of complete checks are stored.
    var incompleteness: ChainVerdict.Incompleteness?
}

extension RecipientVerdict {
    init(_ verdict: ChainVerdict) {
        isTrusted = verdict.isTrustedNow
        isPinned = verdict.trust == .pinned
        revocation = verdict.revocation?.status
        incompleteness = verdict.incompleteness
    }
}

extension ChainVerdict {
    /// Whether the chain leads to an anchor or the certificate is pinned, and all certificates in the chain are valid at the
    /// time of the verdict.
    var isTrustedNow: Bool { isTrusted && !timeProblems.contains { $0.level == .error } }
}
