import CMS
import Foundation
import Keystore
import MIME
import SMIME

/// Who can read what: the certificates that a message is encrypted to, all or none.
struct RecipientPlan {
    let store: Store
    let time: Date
    let systemAnchors: Bool
    let wrapping: Recipient.RSAWrapping
    /// Certificates given by file, which are used unchecked.
    let extra: [Certificate]

    /// One output of a message.
    struct Copy {
        let addresses: [EmailAddress]
        let recipients: [Recipient]
        /// The number of the Bcc recipient whose own it is; nil for the copy of To and Cc.
        let number: Int?

        /// Where the copy goes if the first one goes to `path`: STEM.bcc1.EXT.
        func path(_ path: String) -> String {
            guard let number else { return path }
            let url = URL(filePath: path)
            let stem = url.deletingPathExtension().relativePath
            return url.pathExtension.isEmpty ? "\(stem).bcc\(number)" : "\(stem).bcc\(number).\(url.pathExtension)"
        }
    }

    /// The copies of a message with `header`: one for `addresses`, or To and Cc, and one for each Bcc recipient.
    ///
    /// - Parameter sender: who sends, by option and by From; nil if the message is not encrypted to them.
    /// - Throws: `Failure` with status 67 naming every recipient without a usable certificate.
    func copies(
        of header: HeaderBlock,
        to addresses: [EmailAddress],
        sender: (given: EmailAddress?, from: EmailAddress?)?
    ) async throws -> [Copy] {
        let visible = try addresses.isEmpty ? Self.addresses(["To", "Cc"], of: header) : addresses
        let hidden = addresses.isEmpty ? try Self.addresses(["Bcc"], of: header) : []
        guard !visible.isEmpty || !hidden.isEmpty || !extra.isEmpty else {
            throw Failure(
                .usage,
                "no recipients: the message has none in To or Cc",
                hints: ["name them with --to ADDR"]
            )
        }
        let found = try await certificates(for: visible + hidden)
        let own = try await ownCertificate(sender)
        func copy(_ addresses: [EmailAddress], _ certificates: [Certificate], _ number: Int?) -> Copy {
            var seen: Set<Certificate> = []
            let unique = (certificates + own).filter { seen.insert($0).inserted }
            let recipients = unique.map { Recipient($0, rsaWrapping: wrapping) }
            return Copy(addresses: addresses, recipients: recipients, number: number)
        }
        var copies: [Copy] = []
        if !visible.isEmpty || !extra.isEmpty {
            copies.append(copy(visible, visible.compactMap { found[$0] } + extra, nil))
        }
        for (index, address) in hidden.enumerated() {
            copies.append(copy([address], [found[address]].compactMap(\.self), index + 1))
        }
        return copies
    }

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

    private func certificates(for addresses: [EmailAddress]) async throws -> [EmailAddress: Certificate] {
        let choices = try await store.recipients.choices(for: addresses, at: time, systemAnchors: systemAnchors)
        var found: [EmailAddress: Certificate] = [:]
        var missing: [String] = []
        for choice in choices {
            if let selected = choice.selected {
                found[choice.address] = selected.certificate
            } else {
                missing.append("\(choice.address) (\(choice.whyNone))")
            }
        }
        guard missing.isEmpty else {
            throw Failure(
                .noUser,
                "no usable certificate for \(missing.joined(separator: ", "))",
                hints: Self.hints(choices.filter { $0.selected == nil })
            )
        }
        return found
    }

    private static func hints(_ choices: [RecipientChoice]) -> [String] {
        choices.map { choice in
            if let distrusted = choice.candidates.first(where: { $0.reason == .distrusted }) {
                let certificate = distrusted.recipient.certificate.fingerprint
                return "to believe it again: smime recipient trust \(choice.address) --fingerprint \(certificate)"
            }
            return choice.candidates.contains { $0.reason == .untrusted }
                ? "import the certificate of its issuer with --trust, or compare fingerprints and: smime recipient trust \(choice.address)"
                : "add a certificate: smime recipient add \(choice.address) FILE"
        }
    }

    private func ownCertificate(_ sender: (given: EmailAddress?, from: EmailAddress?)?) async throws -> [Certificate] {
        guard let sender else { return [] }
        guard let address = sender.given ?? sender.from else {
            Console.warning("you will not be able to read it: the message has no From, and --from names no account")
            return []
        }
        do throws(KeystoreError) {
            return [try await store.accounts.identity(for: address, purpose: .encryption, at: time).certificate]
        } catch {
            guard sender.given == nil else { throw error }
            switch error {
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
            for certificate in certificates { Console.warning("\(file): used unchecked: \(certificate.subject)") }
            return certificates
        }
    }
}
