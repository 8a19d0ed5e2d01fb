import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import SMIME

/// Who signs, and with what.
struct SigningOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Sign as this account. (default: the message's From)", valueName: "addr"))
    var from: EmailAddress?
    @Option(help: ArgumentHelp("Sign with this identity's certificate.", valueName: "fpr"))
    var identity: Fingerprint?
    @Flag(help: "Put content and signature into one object, which only S/MIME readers can show.")
    var opaque = false
    @Option(help: "The digest: sha256, sha384 or sha512.", transform: Self.parseDigest)
    var digest = DigestAlgorithm.sha256
    @Flag(name: .customLong("no-chain"), help: "Send no certificates along but the signer's own.")
    var noChain = false

    var form: MessageProtector.SignatureForm { opaque ? .opaque : .detached }

    private static func parseDigest(_ text: String) throws -> DigestAlgorithm {
        let digest = DigestAlgorithm(micalg: text)
        guard let digest, [.sha256, .sha384, .sha512].contains(digest) else {
            throw ValidationError("'\(text)' is none of sha256, sha384 and sha512")
        }
        return digest
    }

    /// The signer of a message with `header`.
    ///
    /// - Throws: `Failure` with status 67 if nobody fits, or the certificate does not name the message's From.
    func signer(for header: HeaderBlock?, in store: Store, at time: Date) async throws -> SignedDataWriter.Signer {
        let author = try header.flatMap { try Sender(of: $0) }
        let keyed = try await keyedCertificate(author, store, time)
        try check(keyed.certificate, isFrom: author, isAssigned: try await isAssigned(keyed.certificate, store))
        return SignedDataWriter.Signer(
            key: keyed.key,
            certificate: keyed.certificate,
            chain: noChain ? [] : try await store.anchors.chain(above: keyed.certificate),
            digest: digest
        )
    }

    private func keyedCertificate(_ author: Sender?, _ store: Store, _ time: Date) async throws -> KeyedCertificate {
        if let identity {
            let keyed = try await store.accounts.identity(identity)
            guard keyed.certificate.canSign else {
                throw Failure(.noUser, "\(identity): the certificate may not sign mail")
            }
            if !keyed.certificate.isValid(at: time) { Console.warning("\(identity): the certificate is not valid now") }
            return keyed
        }
        guard let address = from ?? author?.address else {
            throw Failure(.noUser, "the message has no From to sign as", hints: ["say who signs with --from ADDR"])
        }
        // Of several authors it is the first with an account here who signs.
        for other in author?.addresses ?? [] where from == nil {
            if let found = try? await store.accounts.signingIdentity(for: other, at: time) { return found }
        }
        return try await store.accounts.signingIdentity(for: address, at: time)
    }

    /// Whether an account was given the certificate by hand, whatever addresses it names.
    private func isAssigned(_ certificate: Certificate, _ store: Store) async throws -> Bool {
        try await store.accounts.all().flatMap(\.identities).contains {
            $0.certificate == certificate && $0.isAssigned
        }
    }

    private func check(_ certificate: Certificate, isFrom author: Sender?, isAssigned: Bool) throws {
        guard let author, !author.addresses.contains(where: { certificate.names($0) }) else { return }
        let text = "the certificate does not name the message's From, \(author.address), so nobody would believe it"
        guard isAssigned || identity != nil else {
            throw Failure(.noUser, text, hints: ["see `smime account list` for the accounts there are"])
        }
        Console.warning(text)
    }
}

/// Whom a message is from.
struct Sender {
    let addresses: [EmailAddress]
    var address: EmailAddress { addresses[0] }

    /// The mailboxes of From; nil if there are none.
    ///
    /// - Throws: `Failure` with status 65 if there is more than one From field.
    init?(of header: HeaderBlock) throws {
        let fields = header.all("From")
        guard fields.count <= 1 else { throw Failure(.badData, "the message has more than one From field") }
        guard let field = fields.first else { return nil }
        addresses = try AddressList(field: field).addresses
        guard !addresses.isEmpty else { return nil }
    }
}
