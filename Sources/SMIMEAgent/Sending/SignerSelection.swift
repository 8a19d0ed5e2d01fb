import ByteStreams
package import CMSSyntax
package import Foundation
package import InternetMessage
package import LibCrypto
package import PKIX
package import SMIME
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

    /// The signer of a message with `header`. Throws if verifiers would find a mail's signature invalid because of the
    /// author.
    ///
    /// - Parameters:
    ///   - isMail: whether the message is a mail, which must have From. For a CMS object outside of mail, From is checked
    ///     only if it is present.
    ///   - options: how revocation is checked, with the available lists.
    /// - Throws: `AgentError` if From is not exactly one mailbox that all mail programs read as the same address, no account
    ///   fits, the certificate does not name the message's From or is known to be revoked, or its key cannot sign with the
    ///   digest.
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
        // Without From, the address that receives answers is unknown; and many certificates are for both signing and
        // encryption.
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

/// Whether there is a usable key or certificate.
package enum Availability: Hashable, Sendable {
    /// There is no key or certificate, and never was. `why` is inserted in parentheses after "no usable certificate for …",
    /// in this case and the following ones.
    case missing(why: String)
    /// Unknown, because another host or program could not be reached: only a message that requires the answer waits.
    case unreached(why: String)
    /// Unknown, because a source of certificates could not be reached: the message waits.
    case unknown(why: String)
    /// There is a key or certificate, but it cannot be used, for example because it expired. A warning says so.
    case unusable(why: String)
    case usable
}

extension Availability {
    /// Whether `choice` can be encrypted to.
    package init(_ choice: RecipientChoice) {
        if choice.selected != nil {
            self = .usable
        } else if choice.isUnknown {
            self = choice.isHeldByOutage ? .unknown(why: choice.whyNone) : .unreached(why: choice.whyNone)
        } else {
            self = choice.hasUnusable ? .unusable(why: choice.whyNone) : .missing(why: choice.whyNone)
        }
    }
}

/// The author that a message names.
package struct MailAuthor: Sendable {
    /// The first mailbox of From.
    package let address: EmailAddress

    /// The first mailbox of From; nil if From has no mailboxes.
    ///
    /// - Throws: `AgentError.severalFrom`, `MIMEError`
    package init?(of header: HeaderBlock) throws {
        guard header.all("From").count <= 1 else { throw AgentError.severalFrom }
        guard let first = try header.addresses("From").first else { return nil }
        address = first
    }

    /// The address in From, if From is exactly one mailbox that all mail programs read as the same address; nil if there is
    /// no From.
    ///
    /// - Throws: `AgentError.doubtfulAuthor`
    static func sole(in header: HeaderBlock?) throws -> EmailAddress? {
        guard let header, header.first("From") != nil else { return nil }
        let reading = AuthorReading(header)
        guard let author = reading.soleAddress else {
            throw AgentError.doubtfulAuthor(why: reading.firstProblem ?? "From holds no address")
        }
        return author
    }

    /// `message` with a From field for `author` added at the start of its header; nil if the message already has a From
    /// field.
    package static func writing(_ author: EmailAddress, into message: LocatedEntity) throws -> LocatedEntity? {
        let (header, source) = (message.entity.header, message.source)
        guard header.first("From") == nil else { return nil }
        let start = header.range.lowerBound + header.leadingBytes.count
        let spool = Spool()
        try source.reader(in: 0..<start).copy(to: spool)
        try spool.write(NewField("From", value: author.text).bytes(lineEnd: header.lineEnd))
        try source.reader(in: start..<source.count).copy(to: spool)
        try source.checkUnchanged()
        return try LocatedEntity(reading: spool.finish())
    }
}
