package import CMSSyntax
package import Foundation
package import InternetMessage
package import PKIX
package import SMIME
package import SMIMEStore

/// Whether a message can be signed, and with which identity, according to one snapshot of the store.
package struct SigningAvailability: Sendable {
    /// The main address of the sending account; nil if there is no such account.
    package let account: EmailAddress?
    package private(set) var availability = Availability.missing(why: "no such account")
    private var sealed: SealedIdentity?
    private var accompanyingCertificates: AccompanyingCertificates?

    /// Finds out whether a mail that `sender` sends at `time`, with `author` in From, can be signed. `sender` is nil for the
    /// null sender.
    ///
    /// - The certificate must name the author, and From must be exactly one mailbox that all mail programs read as the
    ///   same address: by default, `verify` accepts no other signature.
    /// - A certificate that is known to be revoked does not sign, unless `options` turn revocation checks off.
    /// - A sender who may use one account does not get the signature of another account, whatever From says.
    package init(
        of sender: EmailAddress?,
        for author: AuthorReading,
        _ subaddressing: Subaddressing,
        at time: Date,
        under options: ValidationOptions,
        in snapshot: StoreSnapshot
    ) throws {
        guard let sender, let account = try snapshot.account(for: sender, subaddressing) else {
            account = nil
            if sender == nil { availability = .missing(why: "mail without a sender's address is never signed") }
            return
        }
        self.account = account.address
        guard !account.identities.isEmpty else {
            availability = .missing(why: "the account \(account.address) has no certificate")
            return
        }
        guard let author = author.soleAddress else {
            availability = .unusable(why: author.firstProblem ?? "From holds no address")
            return
        }
        let valid = account.identities.map(\.certificate).filter { $0.isValid(at: time) }
        let verdicts = try snapshot.verdicts(on: valid, at: time, under: options)
        let identities = account.identities.filter { $0.certificate.names(author) }
        guard
            let certificate = IdentitySelection.signer(
                naming: author,
                orCurrentOf: nil,
                of: identities,
                at: time,
                verdicts: verdicts
            )?
            .certificate
        else {
            let states = IdentitySelection.judge(
                identities,
                for: author,
                purpose: .signing,
                at: time,
                verdicts: verdicts
            )
            let lapsed = zip(identities, states)
                .filter { [.expired, .notYetValid, .revoked].contains($1) }.map(\.0.certificate)
            let newest = lapsed.max { $0.notAfter < $1.notAfter }
            let isRevoked = account.identities.contains { verdicts.isRevoked($0.certificate) }
            availability = .unusable(
                why: Self.why(account.address, cannotSignFor: author, newest, isRevoked: isRevoked, at: time)
            )
            return
        }
        guard let sealed = try snapshot.sealedIdentity(certificate) else {
            throw KeystoreError.unknownCertificate(certificate.fingerprint)
        }
        availability = .usable
        self.sealed = sealed
        accompanyingCertificates = try AccompanyingCertificates(
            of: certificate,
            among: identities,
            for: author,
            at: time,
            under: options,
            in: snapshot
        )
    }

    private static func why(
        _ account: EmailAddress,
        cannotSignFor author: EmailAddress,
        _ lapsed: Certificate?,
        isRevoked: Bool,
        at time: Date
    ) -> String {
        let purpose = "for signing mail from \(author.text)"
        guard !isRevoked else {
            return "the account \(account) has no valid, unrevoked certificate \(purpose)"
        }
        guard let lapsed else {
            return "the account \(account) has no certificate that can sign mail from \(author.text)"
        }
        let state =
            lapsed.notAfter < time ? "expired on \(lapsed.notAfter.day)" : "is not valid before \(lapsed.notBefore.day)"
        return "the certificate of the account \(account) \(purpose) \(state)"
    }

    /// The signer, with its key opened; nil if there is none.
    package func signer(in store: Store) async throws -> SignedDataWriter.Signer? {
        guard let sealed, let accompanyingCertificates else { return nil }
        return accompanyingCertificates.signer(with: try await store.accounts.open(sealed))
    }
}
