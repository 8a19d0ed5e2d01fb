import ByteStreams
package import CMSSyntax
package import Foundation
package import InternetMessage
package import LibCrypto
package import PKIX
import SMIME
package import SMIMEStore

/// Chooses the account and the certificate that sign a message.
package struct SignerSelection: Sendable {
    /// A warning about a signer that does not prevent signing.
    package enum Warning: Sendable {
        /// The certificate that the user named is not valid at the time of signing.
        case notValid(Fingerprint)
        /// The certificate does not name the author, but a person assigned it to the author's account.
        case assignedToAuthor(EmailAddress)
    }

    /// The account that signs; if nil, the account of the author.
    private let account: EmailAddress?
    /// The certificate that signs; if nil, the account's certificate that names the author, or else its current one.
    private let identity: Fingerprint?
    private let digest: DigestAlgorithm?
    private let sendsChain: Bool

    /// - Parameters:
    ///   - account: the account that signs; if nil, the account of the author.
    ///   - identity: the certificate to sign with; if nil, the account's certificate that names the author, or else its
    ///     current one.
    ///   - digest: the digest; if nil, a digest that suits the key.
    ///   - sendsChain: whether other certificates accompany the signer's own.
    package init(
        account: EmailAddress? = nil,
        identity: Fingerprint? = nil,
        digest: DigestAlgorithm? = nil,
        sendsChain: Bool = true
    ) {
        self.account = account
        self.identity = identity
        self.digest = digest
        self.sendsChain = sendsChain
    }

    /// The signer of a message with `header`.
    ///
    /// If the certificate does not name the author, verifiers find the signature invalid, so this is an error. It is
    /// only a warning if a person assigned the certificate to the author's account.
    ///
    /// - Parameters:
    ///   - isMail: whether the message is a mail, which must have From. For a CMS object outside of mail, From is checked
    ///     only if it is present.
    ///   - options: how revocation is checked, with the available lists.
    /// - Throws: `AgentError.doubtfulAuthor`, `.noAuthor`, `.noSigner`, `.unusableSigner`, `.signerNotAuthor`,
    ///   `.notForSigning`, `.revokedSigner`, `.impossibleDigest`; `KeystoreError`
    package func signer(
        for header: HeaderBlock?,
        isMail: Bool = true,
        in store: Store,
        at time: Date,
        under options: ValidationOptions,
        warn: (Warning) -> Void = { _ in }
    ) async throws -> SignedDataWriter.Signer {
        let author = try MailAuthor.sole(in: header)
        guard author != nil || !isMail else { throw AgentError.noAuthor }
        let keyed = try await chosenIdentity(author, in: store, time: time, options: options, warn: warn)
        if let author {
            switch try await store.read({ try $0.match(of: keyed.certificate, with: author) }) {
            case .named: break
            case .assigned: warn(.assignedToAuthor(author))
            case .foreign:
                let fitting = try await fitting(author, store, time: time)
                throw AgentError.signerNotAuthor(author, keyed.certificate, fitting: fitting)
            }
        }
        if let digest, !keyed.certificate.signatureDigests.contains(digest) {
            throw AgentError.impossibleDigest(digest, keyed.certificate)
        }
        guard sendsChain else { return SignedDataWriter.Signer(keyed, digest: digest) }
        // Without From, the address that receives answers is unknown. A certificate that is also for encryption needs no
        // second one.
        let address = keyed.certificate.canEncrypt ? nil : author
        return try await store.read { snapshot in
            try AccompanyingCertificates(
                of: keyed.certificate,
                among: try address.flatMap { try snapshot.account(for: $0) }?.identities ?? [],
                for: address,
                at: time,
                under: options,
                in: snapshot
            )
        }.signer(with: keyed, digest: digest)
    }

    private func chosenIdentity(
        _ author: EmailAddress?,
        in store: Store,
        time: Date,
        options: ValidationOptions,
        warn: (Warning) -> Void
    ) async throws -> Identity {
        if let identity {
            let keyed = try await store.accounts.identity(identity)
            guard keyed.certificate.canSign else { throw AgentError.notForSigning(identity) }
            let verdicts = try await store.accounts.verdicts(on: [[keyed.certificate]], at: time, under: options)
            guard !verdicts.isRevoked(keyed.certificate) else { throw AgentError.revokedSigner(identity) }
            if !keyed.certificate.isValid(at: time) { warn(.notValid(identity)) }
            return keyed
        }
        guard let address = account ?? author else { throw AgentError.noSigner }
        do throws(KeystoreError) {
            return try await store.accounts.signingIdentity(for: address, author: author, at: time, under: options)
        } catch {
            switch error {
            case .noUsableIdentity, .revokedIdentity, .unknownAccount:
                throw AgentError.unusableSigner(error, fitting: try await fitting(author, store, time: time))
            default: throw error
            }
        }
    }

    /// The addresses of the accounts that could sign as `author`.
    private func fitting(_ author: EmailAddress?, _ store: Store, time: Date) async throws -> [EmailAddress] {
        guard let author else { return [] }
        return try await store.accounts.accounts(signingAs: author, at: time).map(\.address)
    }
}
