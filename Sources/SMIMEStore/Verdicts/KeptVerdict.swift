import Foundation
import PKIX

/// A verdict on a certificate that is kept in the store, with what it depends on and when it holds.
///
/// It is used only if a new verdict would depend on the same `basis`, and the time is within its limits. Nothing more is checked, so
/// verdicts are kept in a file alone, which its owner alone can write, who could as well make an anchor: a key to authenticate them
/// with would lie beside it. A database on a server is written by gateways, too, none of which may decide whom the others trust:
/// there verdicts are neither written nor read (`SQLConnection.keepsVerdicts`).
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

    /// Puts `verdicts` in the place of those that are kept. For certificates that are gone nothing is done; where another one has got its
    /// row meanwhile, the basis fits none. Nothing is done where verdicts are not believed.
    static func keep(_ verdicts: [NewVerdict], in database: SQLDatabase) throws {
        guard database.keepsVerdicts else { return }
        let insert = """
            INSERT INTO verdict (certificate, by_pin, basis, since, until, trusted, pinned, revocation)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM certificate WHERE id = ?1)
            ON CONFLICT (certificate, by_pin) DO UPDATE SET basis = excluded.basis, since = excluded.since,
                until = excluded.until, trusted = excluded.trusted, pinned = excluded.pinned,
                revocation = excluded.revocation
            """
        for new in verdicts {
            let (kept, verdict) = (new.kept, new.kept.verdict)
            try database.execute(
                insert,
                [
                    new.certificate, new.byPin, kept.basis, kept.since, kept.until, verdict.isTrusted,
                    verdict.isPinned, verdict.revocation?.rawValue,
                ],
                isCounted: false
            )
        }
    }
}
