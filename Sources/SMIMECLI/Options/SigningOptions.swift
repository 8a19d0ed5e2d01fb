import ArgumentParser
import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// Options for the signer and the form of the signature.
struct SigningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The sender, and the account that signs. (default: the message's From)", valueName: "addr")
    )
    var from: EmailAddress?
    @Option(help: .fingerprint("Sign with this certificate"))
    var identity: FingerprintPrefix?
    @Flag(help: "Put content and signature into one object. Mail programs without S/MIME cannot show the mail.")
    var opaque = false
    @Option(
        help: """
            The digest: sha256, sha384 or sha512. (default: sha256, or what the key requires: Ed25519 signs with \
            sha512)
            """,
        completion: .list(["sha256", "sha384", "sha512"]),
        transform: Self.parseDigest
    )
    var digest: DigestAlgorithm?
    @Flag(name: .customLong("no-chain"), help: "Include only the signer's own certificate.")
    var noChain = false

    /// Whether an option was given that has an effect only with a signature.
    var isGiven: Bool { identity != nil || opaque || digest != nil || noChain }

    var form: SignatureForm { opaque ? .opaque : .detached }
    /// The From field that is added to plain text; none if --from is not given.
    private var fromField: [NewField] { from.map { [NewField("From", value: $0.text)] } ?? [] }

    /// The header fields that are added to plain text. With recipients or a subject, the result is a whole message, which
    /// also needs a date.
    func textFields(to: [EmailAddress], subject: String?) -> [NewField] {
        let recipients = to.isEmpty ? [] : [NewField("To", value: to.map(\.text).joined(separator: ", "))]
        let titles = subject.map { [NewField("Subject", value: EncodedWord.encode($0))] } ?? []
        let isMail = !to.isEmpty || subject != nil
        return fromField + recipients + titles + (isMail ? [NewField("Date", value: MessageDate(.now).universal)] : [])
    }

    private static func parseDigest(_ text: String) throws -> DigestAlgorithm {
        let digest = DigestAlgorithm(micalg: text)
        guard let digest, [.sha256, .sha384, .sha512].contains(digest) else {
            throw ValidationError("'\(text)' is not one of sha256, sha384, sha512")
        }
        return digest
    }

    /// The signer of a message with `header`.
    ///
    /// - Parameters:
    ///   - isMail: whether the message is a mail, which must have From. For a CMS object outside of mail, From is checked
    ///     only if it is present.
    ///   - options: how revocation is checked, with the available lists.
    /// - Throws: `AgentError`; `Failure` if the prefix in `--identity` does not select exactly one certificate.
    func signer(
        for header: HeaderBlock?,
        isMail: Bool = true,
        in store: Store,
        at time: Date,
        under options: ValidationOptions
    ) async throws -> SignedDataWriter.Signer {
        let selection = SignerSelection(
            account: from,
            identity: try await identity(in: store),
            digest: digest,
            sendsChain: !noChain
        )
        let signer = try await selection.signer(
            for: header,
            isMail: isMail,
            in: store,
            at: time,
            under: options,
            warn: { Console.warning($0.text) }
        )
        if !noChain { try await Self.warnOfMissingIssuer(of: signer.identity.certificate, in: store, at: time) }
        return signer
    }

    /// Warns if `certificate` is not trusted here, and the store lacks the certificate of an authority above it. If
    /// that authority is not a root, the message lacks a certificate that recipients need.
    private static func warnOfMissingIssuer(of certificate: Certificate, in store: Store, at time: Date) async throws {
        guard case .missingIssuer(let last) = try await store.anchors.chainEnd(above: certificate) else { return }
        let trust = try await store.anchors.trust(judging: [certificate], systemAnchors: true)
        guard !trust.judge(certificate, purpose: .signing, at: time).isTrusted else { return }
        Console.warning(
            "recipients may not trust the signature, because the store lacks the certificate of \(last.issuer), "
                + "which issued \(last.subject); if you have it: smime import FILE"
        )
    }

    /// The certificate that `--identity` names; nil if the option is not given.
    private func identity(in store: Store) async throws -> Fingerprint? {
        guard let identity, identity.whole == nil else { return identity?.whole }
        return try identity.only(
            among: try await store.accounts.all().flatMap(\.identities).map(\.certificate.fingerprint)
        )
    }

    /// `message`, whose name is `name`. If the message has no From field, the From field of `--from` is added at the start of
    /// its header, and a warning says so.
    func withAuthor(_ message: LocatedEntity, named name: String) throws -> LocatedEntity {
        guard let from, let written = try MailAuthor.writing(from, into: message) else { return message }
        Console.warning(
            "\(name): the message has no From; wrote `From: \(from)` into it, or its signature would not be valid"
        )
        return written
    }
}

extension SignerSelection.Warning {
    var text: String {
        switch self {
        case .notValid(let identity): "\(identity): the certificate is not valid now"
        case .assignedToAuthor(let author):
            "\(AgentError.notNamed(author)); the account has it because of `import --account`"
        }
    }
}
