import Foundation
import GRDB
import PKIX

/// A cached verdict on a certificate, with what it depends on and when it is valid.
///
/// It is only used if a verdict made now would have the same `basis`, and if the time is within its limits. It is not
/// authenticated: only the owner can write a store's files, and could add an anchor as well; and a key for
/// authentication would be in the same place.
/// to authenticate it with would lie beside it.
struct KeptVerdict: Sendable {
    let verdict: RecipientVerdict
    /// The digest of everything it depends on, the time apart.
    let basis: [UInt8]
    /// The last second before it holds, and the first one after; since 1970.
    let since, until: Int

    /// Whether it holds at `time`, in whole seconds.
    func holds(at time: Int) -> Bool { since < time && time < until }
}

/// A verdict on its way into the store.
struct NewVerdict: Sendable {
    /// The row of the certificate.
    let certificate: Int64
    /// Whether it is about a pinned certificate.
    let byPin: Bool
    let kept: KeptVerdict

    /// Replaces the cached verdicts by `verdicts`. Verdicts on removed certificates are skipped. If another certificate
    /// has got the row meanwhile, the basis does not match.
    static func keep(_ verdicts: [NewVerdict], in database: Database) throws {
        let insert = try database.cachedStatement(
            """
            INSERT OR REPLACE INTO verdict (certificate, by_pin, basis, since, until, trusted, pinned, revocation)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM certificate WHERE id = ?1)
            """
        )
        for new in verdicts {
            let (kept, verdict) = (new.kept, new.kept.verdict)
            try insert.execute(
                arguments: [
                    new.certificate, new.byPin, Data(kept.basis), kept.since, kept.until, verdict.isTrusted,
                    verdict.isPinned, verdict.revocation?.rawValue,
                ]
            )
        }
    }
}
