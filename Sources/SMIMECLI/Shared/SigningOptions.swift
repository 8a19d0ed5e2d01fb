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

/// Who signs, and with what.
struct SigningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Sign as this account. (default: the message's From)", valueName: "addr"))
    var from: EmailAddress?
    @Option(help: ArgumentHelp("Sign with this identity's certificate.", valueName: "fpr"))
    var identity: Fingerprint?
    @Flag(help: "Put content and signature into one object, which only S/MIME readers can show.")
    var opaque = false
    @Option(
        help: """
            The digest: sha256, sha384 or sha512. (default: sha256, unless the key demands another: Ed25519 signs with \
            sha512)
            """,
        transform: Self.parseDigest
    )
    var digest: DigestAlgorithm?
    @Flag(name: .customLong("no-chain"), help: "Send no certificates along but the signer's own.")
    var noChain = false

    /// Whether something was said that only a signature can heed.
    var isSaid: Bool { identity != nil || opaque || digest != nil || noChain }

    var form: MessageProtector.SignatureForm { opaque ? .opaque : .detached }
    /// The From that plain text gets; none if the message has to say it.
    var fromField: [NewField] { from.map { [NewField("From", $0.text)] } ?? [] }

    private static func parseDigest(_ text: String) throws -> DigestAlgorithm {
        let digest = DigestAlgorithm(micalg: text)
        guard let digest, [.sha256, .sha384, .sha512].contains(digest) else {
            throw ValidationError("'\(text)' is none of sha256, sha384 and sha512")
        }
        return digest
    }

    /// The signer of a message with `header`. A mail gets no signature that `verify` would refuse because of its author.
    ///
    /// - Parameters:
    ///   - isMail: whether a mail is signed, which must have From; for a bare CMS object, From counts only if it is there.
    ///   - terms: whether it counts that a certificate was revoked, and lists that say so.
    /// - Throws: `Failure` with status 65 if From is not exactly one mailbox that all programs read alike; with 67 if there is
    ///   no From, no account fits, or the certificate does not name the message's From, or is known to have been revoked.
    func signer(
        for header: HeaderBlock?,
        isMail: Bool = true,
        in store: Store,
        at time: Date,
        under terms: ValidationOptions
    ) async throws -> SignedDataWriter.Signer {
        let author = try Self.author(in: header)
        guard author != nil || !isMail else {
            throw Failure(
                .noUser,
                "the message has no From to sign as, and without it no signature would be valid",
                hints: ["say who signs with --from ADDR, which writes the field"]
            )
        }
        let keyed = try await keyedCertificate(author, store, time, terms)
        if let failure = try await check(keyed.certificate, isFrom: author, in: store) {
            throw try await misfit(failure, author, store, time)
        }
        if let digest, case let possible = keyed.certificate.signatureDigests, !possible.contains(digest) {
            throw Failure(
                .usage,
                "--digest \(digest.rawValue): the key, \(keyed.certificate.publicKeyAlgorithm), signs with "
                    + possible.map(\.rawValue).joined(separator: " or ") + " only"
            )
        }
        guard !noChain else {
            return SignedDataWriter.Signer(keyed, digest: digest)
        }
        // Without a From nobody can say whom an answer is for, and many a certificate is for signing and encryption.
        let address = keyed.certificate.canEncrypt ? nil : author
        return try await store.read { snapshot in
            try AccompanyingCertificates(
                of: keyed.certificate,
                among: try address.flatMap { try snapshot.account(for: $0) }?.identities ?? [],
                for: address,
                at: time,
                under: terms,
                in: snapshot
            )
        }.signer(with: keyed, digest: digest)
    }

    /// The message in `source`, called `name`; if it has no From, with that of `--from` in front of its header, as a warning
    /// says.
    func withAuthor(_ source: any ByteSource, named name: String) throws -> any ByteSource {
        guard let from else { return source }
        let header = try MIMEReader.message(in: source).header
        guard header.first("From") == nil else { return source }
        Console.warning(
            "\(name): the message has no From; wrote `From: \(from)` into it, or its signature would not be valid"
        )
        let start = header.range.lowerBound + header.leadingBytes.count
        let spool = Spool()
        try source.reader(in: 0..<start).copy(to: spool)
        try spool.write(NewField("From", from.text).bytes(lineEnd: header.lineEnd))
        try source.reader(in: start..<source.count).copy(to: spool)
        try source.checkUnchanged()
        return try spool.finish()
    }

    /// The mailbox in From; nil if there is no such field.
    private static func author(in header: HeaderBlock?) throws -> EmailAddress? {
        guard let header, header.first("From") != nil else { return nil }
        let reading = AuthorReading(header)
        guard let author = reading.soleAddress else {
            throw Failure(
                .badData,
                "\(reading.firstProblem ?? "From holds no address"), so no signature of the message would be valid",
                hints: ["write exactly one address in From"]
            )
        }
        return author
    }

    private func keyedCertificate(
        _ author: EmailAddress?,
        _ store: Store,
        _ time: Date,
        _ terms: ValidationOptions
    ) async throws -> Identity {
        if let identity {
            let keyed = try await store.accounts.identity(identity)
            guard keyed.certificate.canSign else {
                throw Failure(.noUser, "\(identity): the certificate may not sign mail")
            }
            guard
                try await !store.accounts.verdicts(on: [[keyed.certificate]], at: time, under: terms)
                    .isRevoked(keyed.certificate)
            else {
                throw Failure(
                    .noUser,
                    "\(identity): the certificate was revoked by its issuer, and is not used any more",
                    hints: ["sign with it without looking: --revocation off"]
                )
            }
            if !keyed.certificate.isValid(at: time) { Console.warning("\(identity): the certificate is not valid now") }
            return keyed
        }
        guard let address = from ?? author else {
            throw Failure(.noUser, "nothing says who signs", hints: ["say who signs with --from ADDR"])
        }
        do throws(KeystoreError) {
            return try await store.accounts.signingIdentity(for: address, at: time, under: terms)
        } catch {
            switch error {
            case .noUsableIdentity, .revokedIdentity, .unknownAccount:
                throw try await misfit(Failure(keystore: error), author, store, time)
            default: throw error
            }
        }
    }

    /// `failure` with the accounts that could sign as `author`.
    private func misfit(
        _ failure: Failure,
        _ author: EmailAddress?,
        _ store: Store,
        _ time: Date
    ) async throws -> Failure {
        var fitting: [EmailAddress] = []
        if let author { fitting = try await store.accounts.accounts(signingAs: author, at: time).map(\.address) }
        return Failure(
            failure.status,
            failure.message,
            hints: fitting.map { "the account \($0) fits: smime sign --from \(shell: $0)" } + failure.hints
        )
    }

    /// What is wrong with signing as `author` with `certificate`, which does not name that address: `verify` would find that
    /// the signer is not the author. Nil, with a warning, if the author's account was given the certificate by hand.
    private func check(
        _ certificate: Certificate,
        isFrom author: EmailAddress?,
        in store: Store
    ) async throws -> Failure? {
        guard let author, !certificate.names(author) else { return nil }
        let text = "the certificate does not name the message's From, \(author), so the signature would not be valid"
        let isAssigned = try await store.read { snapshot in
            try snapshot.account(for: author)?.identities.contains { $0.isAssigned && $0.certificate == certificate }
        }
        guard isAssigned != true else {
            Console.warning("\(text); the account has it all the same, as `import --account` was told")
            return nil
        }
        let named = certificate.emailAddresses.prefix(3).map(\.text).joined(separator: " or ")
        let hint =
            named.isEmpty
            ? "see `smime account list` for the accounts there are" : "it names \(named): write that in From"
        return Failure(.noUser, text, hints: [hint])
    }
}
