import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// Who can read what: the certificates that a message is encrypted to, all or none.
struct RecipientPlan {
    let lookup: RecipientLookup
    let time: Date
    let ciphers: CipherPreferences
    /// The cipher that the user asks for.
    let demanded: ContentCipher?
    /// Certificates given by file, which are used unchecked.
    let extra: [Certificate]
    /// Whether a secret opens it, so that only recipients named by option need a certificate.
    var hasSecret = false
    /// Who is asked about revocation.
    var online: OnlineRevocation?

    /// One output of a message.
    struct Copy {
        let addresses: [EmailAddress]
        let negotiation: CipherNegotiation
        /// The number of the Bcc recipient whose own it is; nil for the copy of To and Cc.
        let number: Int?

        /// Where the copy goes if the first one goes to `path`: STEM.bcc1.EXT.
        static func path(_ path: String, number: Int?) -> String {
            guard let number else { return path }
            let url = URL(filePath: path)
            let stem = url.deletingPathExtension().relativePath
            return url.pathExtension.isEmpty ? "\(stem).bcc\(number)" : "\(stem).bcc\(number).\(url.pathExtension)"
        }
    }

    /// The copies of a message with `header`: one for `addresses`, or To and Cc, and one for each Bcc recipient.
    ///
    /// - Parameters:
    ///   - senders: who sends, for the choice of the cipher.
    ///   - sender: who sends, by option and by From; nil if the message is not encrypted to them.
    /// - Throws: `Failure` with status 67 naming every recipient without a usable certificate; with 69 if all that is
    ///   missing is the word of a service or source that does not answer.
    func copies(
        of header: HeaderBlock,
        to addresses: [EmailAddress],
        from senders: [EmailAddress],
        sender: (given: EmailAddress?, from: EmailAddress?)?
    ) async throws -> [Copy] {
        let readsHeader = addresses.isEmpty && !hasSecret
        let visible = try readsHeader ? Self.addresses(["To", "Cc"], of: header) : addresses
        let hidden = readsHeader ? try Self.hiddenRecipients(of: header) : []
        guard !visible.isEmpty || !hidden.isEmpty || !extra.isEmpty || hasSecret else {
            throw Failure(
                .usage,
                "no recipients: the message has none in To or Cc",
                hints: ["name them with --to ADDR"]
            )
        }
        let found = try await certificates(for: visible + hidden)
        let own = try await ownCertificate(sender)
        func copy(_ addresses: [EmailAddress], _ parties: [CipherNegotiation.Party], _ number: Int?) throws -> Copy {
            var seen: Set<Certificate> = []
            let preferences = ciphers.preferences(from: senders, to: addresses, demanded: demanded)
            let unique = (parties + own).filter { seen.insert($0.certificate).inserted }
            let negotiation = try CipherNegotiation(for: unique, preferences)
            negotiation.warnings.forEach(Console.warning)
            return Copy(addresses: addresses, negotiation: negotiation, number: number)
        }
        let given = extra.map { CipherNegotiation.Party(name: "\($0.subject)", certificate: $0, known: nil) }
        var copies: [Copy] = []
        if !visible.isEmpty || !extra.isEmpty || hasSecret {
            copies.append(try copy(visible, visible.compactMap { found[$0] } + given, nil))
        }
        for (index, address) in hidden.enumerated() {
            copies.append(try copy([address], [found[address]].compactMap(\.self), index + 1))
        }
        return copies
    }

    /// Those who get a copy of their own, in the order of its numbers.
    static func hiddenRecipients(of header: HeaderBlock) throws -> [EmailAddress] { try addresses(["Bcc"], of: header) }

    /// The addresses in fields of these names, each once.
    private static func addresses(_ names: [String], of header: HeaderBlock) throws -> [EmailAddress] {
        var seen: Set<EmailAddress> = []
        return try names.flatMap { header.all($0) }.flatMap { field in
            let list = try AddressList(field: field)
            guard !list.defects.contains(.malformed) else {
                throw Failure(
                    .badData,
                    "\(field.name): something in it is no address",
                    hints: ["name the recipients with --to"]
                )
            }
            return list.addresses
        }.filter { seen.insert($0).inserted }
    }

    private func certificates(for addresses: [EmailAddress]) async throws -> [EmailAddress: CipherNegotiation.Party] {
        let answer = try await lookup.choices(for: addresses.map { AddressScope($0) }, at: time)
        answer.warnings.forEach(Console.warning)
        let choices = answer.choices
        var found: [EmailAddress: CipherNegotiation.Party] = [:]
        var missing: [String] = []
        for (address, choice) in zip(addresses, choices) {
            if let party = choice.party {
                found[address] = party
            } else {
                missing.append("\(address) (\(choice.whyNone))")
            }
        }
        guard missing.isEmpty else {
            let hasOutages = await online?.hasOutages ?? false
            let isOutage = choices.allSatisfy {
                $0.selected != nil || $0.isUnknown || (hasOutages && $0.waitsForRevocation)
            }
            throw Failure(
                isOutage ? .unavailable : .noUser,
                "no usable certificate for \(missing.joined(separator: ", "))",
                hints: Self.hints(choices.filter { $0.selected == nil })
            )
        }
        return found
    }

    private static func hints(_ choices: [RecipientChoice]) -> [String] {
        choices.map { choice in
            if choice.isUnknown {
                return "mend the source (`smime doctor` shows it), or do without: smime config unset lookup.directory"
            }
            if let distrusted = choice.candidates.first(where: { $0.reason == .distrusted }) {
                let certificate = distrusted.recipient.certificate.fingerprint
                let known = distrusted.recipient.address
                return "to believe it again: smime recipient trust \(shell: known) --fingerprint \(certificate)"
            }
            if let doubtful = choice.candidates.first(where: { [.authority, .held].contains($0.reason) })?.recipient {
                let certificate = doubtful.certificate.fingerprint
                return "to use it all the same, compare its fingerprint and: "
                    + "smime recipient trust \(shell: doubtful.address) --fingerprint \(certificate)"
            }
            guard !choice.waitsForRevocation else {
                return "try again when its service answers, or do without its word: --revocation soft"
            }
            guard let untrusted = choice.candidates.first(where: { $0.reason == .untrusted })?.recipient else {
                return "add a certificate: smime recipient add \(shell: choice.address) FILE"
            }
            // What lies in another source is pinned by taking it into the registry.
            let pin =
                untrusted.rank == 0
                ? "trust \(shell: untrusted.address)"
                : "add \(shell: untrusted.address) \(shell: untrusted.sourceDetail ?? "FILE") --trust"
            return
                "import the certificate of its issuer with --trust, or compare fingerprints and: smime recipient \(pin)"
        }
    }

    private func ownCertificate(
        _ sender: (given: EmailAddress?, from: EmailAddress?)?
    ) async throws -> [CipherNegotiation.Party] {
        guard let sender else { return [] }
        guard let address = sender.given ?? sender.from else {
            Console.warning("no copy is encrypted to the author: the message has no From, and --from names no account")
            return []
        }
        do throws(KeystoreError) {
            let accounts = lookup.store.accounts
            let own = try await accounts.identity(
                for: address,
                purpose: .encryption,
                at: time,
                under: lookup.terms
            ).certificate
            return [CipherNegotiation.Party(name: "\(address)", ours: own)]
        } catch {
            guard sender.given == nil else { throw error }
            switch error {
            case .revokedIdentity(_, let fingerprint):
                Console.warning("\(address) will not be able to read it: the certificate \(fingerprint) was revoked")
                return []
            case .unknownAccount, .noUsableIdentity:
                Console.warning(
                    "\(address) will not be able to read it: no certificate of an account of yours for that"
                )
                return []
            default: throw error
            }
        }
    }
}

extension Certificate {
    /// The certificates in `files`, which nobody vouches for.
    static func unchecked(from files: [String]) throws -> [Certificate] {
        try files.flatMap { file in
            let items: [KeyMaterial]
            do { items = try KeyMaterial.read(InputFile.bytes(of: file)) } catch { throw Failure(error, in: file) }
            let certificates = items.compactMap {
                if case .certificate(let certificate) = $0 { certificate } else { nil }
            }
            .filter { !$0.isCertificateAuthority }
            guard !certificates.isEmpty else { throw Failure(.badData, "\(file): holds no certificate to encrypt to") }
            if let weak = certificates.first(where: \.publicKeyAlgorithm.isWeak) {
                throw Failure(.noUser, "\(file): a key of \(weak.publicKeyAlgorithm) is too short to encrypt to")
            }
            for certificate in certificates { Console.warning("\(file): used unchecked: \(certificate.subject)") }
            return certificates
        }
    }
}

extension RecipientChoice {
    /// Whether a certificate would do if it was known that it was not revoked.
    fileprivate var waitsForRevocation: Bool { candidates.contains { $0.reason == .revocationUnknown } }
}
