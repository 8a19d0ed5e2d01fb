package import CMSSyntax
package import Foundation
package import InternetMessage
package import PKIX
package import SMIME
package import SMIMEStore
import Synchronization

/// Chooses the certificates that a message is encrypted to. If a recipient has no usable certificate, the message is
/// not encrypted for any recipient.
package struct RecipientPlan: Sendable {
    /// A warning about a reader of the message that does not prevent encryption.
    package enum Warning: Sendable {
        /// A sentence about a certificate source, revocation or the cipher.
        case other(String)
        /// The message should also be encrypted to its author, who is unknown.
        case noAuthor
        /// The author cannot read the message, because the author's certificate was revoked.
        case ownRevoked(EmailAddress, Fingerprint)
        /// The author cannot read the message, because no account has a usable certificate for the author.
        case ownMissing(EmailAddress)
    }

    private let lookup: RecipientLookup
    private let time: Date
    private let ciphers: CipherPreferences
    private let demanded: ContentCipher?
    private let extra: [Certificate]
    private let hasSecret: Bool
    private let online: OnlineRevocation?
    private let warn: @Sendable (Warning) -> Void

    /// - Parameters:
    ///   - lookup: finds the recipients' certificates and judges them.
    ///   - demanded: the cipher that the user demands; nil if the user demands none.
    ///   - extra: certificates from files that the user named; they are not checked.
    ///   - hasSecret: whether a password or secret key also decrypts the message. If so, only recipients that the user named
    ///     need a certificate.
    ///   - online: asks services about revocation.
    package init(
        lookup: RecipientLookup,
        time: Date,
        ciphers: CipherPreferences,
        demanded: ContentCipher? = nil,
        extra: [Certificate] = [],
        hasSecret: Bool = false,
        online: OnlineRevocation? = nil,
        warn: @escaping @Sendable (Warning) -> Void = { _ in }
    ) {
        self.lookup = lookup
        self.time = time
        self.ciphers = ciphers
        self.demanded = demanded
        self.extra = extra
        self.hasSecret = hasSecret
        self.online = online
        self.warn = warn
    }

    /// One copy of a message.
    package struct Copy: Sendable {
        package let addresses: [EmailAddress]
        package let negotiation: CipherNegotiation
        /// The number of a Bcc recipient's copy, starting at 1; nil for the other copy.
        package let number: Int?
    }

    /// The copies of a message with `header`. If there are `addresses`, or a secret decrypts the message, there is one
    /// copy, and the header is not read. Otherwise there is one copy for To and Cc, and one for each other recipient
    /// in Bcc; for a resent message, the fields of the latest resending are read instead.
    ///
    /// - Parameters:
    ///   - senders: the senders, whose exceptions in the setting `encryption.unknown` apply.
    ///   - sender: the sender according to the option or From; nil if the message is not encrypted to the sender.
    /// - Throws: `AgentError.noUsableCertificate` with every recipient without a usable certificate,
    ///   `AgentError.noRecipients`, `AgentError.malformedRecipients`, `KeystoreError`, `MessageError`
    package func copies(
        of header: HeaderBlock,
        to addresses: [EmailAddress],
        from senders: [EmailAddress],
        sender: (given: EmailAddress?, from: EmailAddress?)?
    ) async throws -> [Copy] {
        let readsHeader = addresses.isEmpty && !hasSecret
        let visible = try readsHeader ? Self.addresses(in: header.visibleRecipientFields) : addresses
        let hidden = readsHeader ? try Self.hiddenRecipients(of: header) : []
        guard !visible.isEmpty || !hidden.isEmpty || !extra.isEmpty || hasSecret else {
            throw AgentError.noRecipients
        }
        let found = try await certificates(for: visible + hidden)
        let own = try await ownCertificate(sender)
        func copy(_ addresses: [EmailAddress], _ parties: [CipherNegotiation.Party], number: Int?) throws -> Copy {
            var seen: Set<Certificate> = []
            let unique = (parties + own).filter { seen.insert($0.certificate).inserted }
            let negotiation = try ciphers.negotiation(for: unique, from: senders, to: addresses, demanded: demanded)
            negotiation.warnings.forEach { warn(.other($0)) }
            return Copy(addresses: addresses, negotiation: negotiation, number: number)
        }
        let given = extra.map { CipherNegotiation.Party(name: "\($0.subject)", certificate: $0, known: nil) }
        var copies: [Copy] = []
        if !visible.isEmpty || !extra.isEmpty || hasSecret {
            copies.append(try copy(visible, visible.compactMap { found[$0] } + given, number: nil))
        }
        for (index, address) in hidden.enumerated() {
            copies.append(try copy([address], [found[address]].compactMap(\.self), number: index + 1))
        }
        return copies
    }

    /// The recipients of separate copies, in the order of the copies' numbers. An address that To or Cc names as well has no
    /// copy of its own.
    package static func hiddenRecipients(of header: HeaderBlock) throws -> [EmailAddress] {
        let visible = Set(try addresses(in: header.visibleRecipientFields))
        return try addresses(in: header.hiddenRecipientFields).filter { !visible.contains($0) }
    }

    /// All recipients in the header, each once.
    package static func everyRecipient(of header: HeaderBlock) throws -> [EmailAddress] {
        try addresses(in: header.visibleRecipientFields + header.hiddenRecipientFields)
    }

    /// The addresses in `fields`, each once.
    private static func addresses(in fields: [HeaderField]) throws -> [EmailAddress] {
        var seen: Set<EmailAddress> = []
        return try fields.flatMap { field in
            let list = try AddressList(field: field)
            guard !list.defects.contains(.malformed) else {
                throw AgentError.malformedRecipients(field: field.name)
            }
            return list.addresses
        }.filter { seen.insert($0).inserted }
    }

    private func certificates(for addresses: [EmailAddress]) async throws -> [EmailAddress: CipherNegotiation.Party] {
        let answer = try await lookup.choices(for: addresses.map { AddressScope($0) }, at: time)
        answer.warnings.forEach { warn(.other($0)) }
        let choices = answer.choices
        var found: [EmailAddress: CipherNegotiation.Party] = [:]
        for (address, choice) in zip(addresses, choices) { found[address] = choice.party }
        let missing = choices.filter { $0.selected == nil }
        guard missing.isEmpty else {
            let hasOutages = await online?.hasOutages ?? false
            throw AgentError.noUsableCertificate(
                missing,
                isOutage: missing.allSatisfy { $0.isUnknown || (hasOutages && $0.waitsForRevocation) }
            )
        }
        return found
    }

    private func ownCertificate(
        _ sender: (given: EmailAddress?, from: EmailAddress?)?
    ) async throws -> [CipherNegotiation.Party] {
        guard let sender else { return [] }
        guard let address = sender.given ?? sender.from else {
            warn(.noAuthor)
            return []
        }
        do throws(KeystoreError) {
            let accounts = lookup.store.accounts
            let own = try await accounts.identity(
                for: address,
                purpose: .encryption,
                at: time,
                under: lookup.options
            ).certificate
            return [CipherNegotiation.Party(name: "\(address)", ours: own)]
        } catch {
            guard sender.given == nil else { throw error }
            switch error {
            case .revokedIdentity(_, let fingerprint):
                warn(.ownRevoked(address, fingerprint))
                return []
            case .unknownAccount, .noUsableIdentity:
                warn(.ownMissing(address))
                return []
            default: throw error
            }
        }
    }
}

extension RecipientChoice {
    /// Whether the recipient has a certificate that is unusable only because its revocation status is unknown.
    package var waitsForRevocation: Bool { candidates.contains { $0.reason == .revocationUnknown } }
}

extension RecipientPlan.Warning: CustomStringConvertible {
    /// The warning as a sentence for the author.
    package var description: String {
        switch self {
        case .other(let text): text
        case .noAuthor: "no copy is encrypted to the author: the message has no From"
        case .ownRevoked(let address, let fingerprint):
            "\(address) will not be able to read it: the certificate \(fingerprint) was revoked"
        case .ownMissing(let address):
            "\(address) will not be able to read it: none of your accounts has a usable certificate for this address"
        }
    }
}

extension [KeyMaterial] {
    /// The certificates in a file that are not those of authorities. Neither their chains nor their key usage is
    /// checked.
    ///
    /// - Parameter file: the file's name in messages.
    /// - Throws: `AgentError.noRecipientCertificate`, `AgentError.weakRecipientKey`
    package func uncheckedRecipients(of file: String) throws(AgentError) -> [Certificate] {
        var certificates: [Certificate] = []
        for case .certificate(let certificate) in self where !certificate.isCertificateAuthority {
            certificates.append(certificate)
        }
        guard !certificates.isEmpty else { throw .noRecipientCertificate(file: file) }
        if let weak = certificates.first(where: \.publicKeyAlgorithm.isWeak) {
            throw .weakRecipientKey(file: file, weak)
        }
        return certificates
    }
}
