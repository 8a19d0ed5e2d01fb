import CMS
import Foundation
import Keystore
import MIME

/// Whether and with what a message can be signed, by one snapshot of the store.
struct SigningStanding: Sendable {
    /// The main address of the account that sends; nil if there is none.
    let account: EmailAddress?
    private(set) var standing = PolicyQuestion.Standing.missing(why: "no such account")
    private var sealed: SealedIdentity?
    private var companions: SignatureCompanions?

    /// The standing of mail from `authors` that `sender`, nil for the null sender, sends at `time`.
    ///
    /// A certificate that is known to have been revoked signs nothing, unless `terms` let nobody look.
    ///
    /// Who may send as one account does not thereby get the signature of another one, whatever From says.
    init(
        of sender: EmailAddress?,
        for authors: [EmailAddress],
        at time: Date,
        under terms: TrustTerms,
        in snapshot: StoreSnapshot
    ) throws {
        guard let sender, let account = try snapshot.account(for: sender) else {
            account = nil
            return
        }
        self.account = account.address
        guard !authors.isEmpty else {
            standing = .missing(why: "the message is from nobody or has several From fields")
            return
        }
        let valid = account.identities.map(\.certificate).filter { $0.isValid(at: time) }
        let verdicts = try snapshot.verdicts(on: valid, at: time, under: terms)
        for author in authors {
            let isOwn = try snapshot.account(for: author)?.address == account.address
            let identities = account.identities.filter { isOwn || $0.certificate.names(author) }
            let identity = IdentitySelection.current(
                of: identities,
                for: author,
                purpose: .signing,
                at: time,
                verdicts: verdicts
            )
            guard let identity else { continue }
            guard let sealed = try snapshot.sealedIdentity(identity.certificate) else {
                throw KeystoreError.unknownCertificate(identity.certificate.fingerprint)
            }
            standing = .usable
            self.sealed = sealed
            companions = try SignatureCompanions(
                of: identity.certificate,
                among: identities,
                for: author,
                at: time,
                under: terms,
                in: snapshot
            )
            return
        }
        let isRevoked = account.identities.contains { verdicts.isRevoked($0.certificate) }
        standing = .missing(why: Self.lack(of: account.address, for: authors, isRevoked: isRevoked))
    }

    /// What the account lacks to sign as one of `authors`.
    private static func lack(of account: EmailAddress, for authors: [EmailAddress], isRevoked: Bool) -> String {
        let names = authors.map(\.text).joined(separator: ", ")
        return isRevoked
            ? "the account \(account) has no certificate for From \(names) but what was revoked"
            : "the account \(account) has no valid certificate for From \(names)"
    }

    /// The signer, its key opened; nil if there is none.
    func signer(in store: Store) async throws -> SignedDataWriter.Signer? {
        guard let sealed, let companions else { return nil }
        return companions.signer(with: try await store.accounts.open(sealed))
    }
}
