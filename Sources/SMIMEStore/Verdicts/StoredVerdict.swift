import Foundation
import PKIX

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
    /// The last second before and the first second after the period in which the verdict is valid; since 1970.
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
