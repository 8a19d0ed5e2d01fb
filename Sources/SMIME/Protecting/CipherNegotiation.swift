package import CMSSyntax
package import PKIX

/// Determines the cipher of a message and the key wrapping for each recipient, with reasons. The result depends on the
/// arguments alone.
///
/// RFC 8551 §2.7.1
package struct CipherNegotiation: Sendable {
    /// A recipient of the encrypted message.
    package struct Party: Sendable {
        /// The recipient's name in reports: an address, or a certificate's subject.
        package let name: String
        /// The certificate to encrypt to.
        package let certificate: Certificate
        /// The capabilities that the recipient announced; nil if unknown.
        package let capabilities: [SMIMECapability]?
        /// Whether the recipient is the sender, whose other mail programs have unknown capabilities.
        package let isOurs: Bool

        package init(
            name: String,
            certificate: Certificate,
            capabilities: [SMIMECapability]?,
            isOurs: Bool = false
        ) {
            self.isOurs = isOurs
            self.name = name
            self.certificate = certificate
            self.capabilities = capabilities
        }
    }

    /// The user's preferences.
    package struct Preferences: Sendable, Equatable {
        /// The cipher that the user demands; nil if the cipher is negotiated. A demanded cipher must not be weaker than
        /// `floor`.
        package var demanded: ContentCipher?
        /// The cipher for recipients with unknown capabilities.
        package var standard: ContentCipher
        /// The reason for `standard`: the default, or an exception.
        package var standardReason: Reason
        /// The weakest cipher that may be used.
        package var floor: ContentCipher

        package init(
            demanded: ContentCipher? = nil,
            standard: ContentCipher = .aes256GCM,
            standardReason: Reason = .standard,
            floor: ContentCipher = .aes128CBC
        ) {
            self.demanded = demanded
            self.standard = standard
            self.standardReason = standardReason
            self.floor = floor
        }

        /// The standard cipher; the floor if the standard cipher is weaker.
        fileprivate var usableStandard: ContentCipher { standard.isBelow(floor) ? floor : standard }
    }

    /// The reason for the choice of the cipher.
    package enum Reason: String, Sendable {
        /// The best cipher that all recipients with announced capabilities support.
        case announced
        /// The capabilities of at least one recipient are unknown, and the setting `encryption.unknown` has an exception for
        /// the sender.
        case account
        /// The user demanded the cipher.
        case demanded
        /// The capabilities of at least one recipient are unknown, and the setting `encryption.unknown` has an exception for a
        /// recipient.
        case recipient
        /// The capabilities of at least one recipient are unknown; the default cipher is used.
        case standard
    }

    /// The result for one recipient.
    package struct Verdict: Sendable {
        /// The recipient's name in reports.
        package let name: String
        /// The announced ciphers that are not weaker than the floor, in the announced order.
        package let ciphers: [ContentCipher]
        /// The recipient with the key wrapping to use.
        package let recipient: Recipient
        /// The recipient's certificate.
        package let certificate: Certificate
    }

    /// The cipher for the message.
    package let cipher: ContentCipher
    /// The reason for the choice of the cipher.
    package let reason: Reason
    /// The results for the recipients, in the order of the parties.
    package let verdicts: [Verdict]
    /// Warnings, each a sentence without a full stop.
    package let warnings: [String]

    /// The recipients with their key wrappings, without duplicate certificates.
    package var recipients: [Recipient] {
        var seen: Set<Fingerprint> = []
        return verdicts.filter { seen.insert($0.certificate.fingerprint).inserted }.map(\.recipient)
    }

    /// - Throws: `MessageError.noCommonCipher`, whose text lists the announced ciphers of each recipient;
    ///   `.cipherBelowFloor`.
    package init(for parties: [Party], _ preferences: Preferences) throws(MessageError) {
        let announced = parties.map { Self.ciphers($0, floor: preferences.floor) }
        let ignoredAnnouncements = zip(parties, announced).compactMap { party, ciphers -> String? in
            let announcesSome = party.capabilities?.contains { $0.isCipher } ?? false
            guard announcesSome, ciphers.isEmpty else { return nil }
            return
                "\(party.name) announces no cipher as good as \(preferences.floor.name), so its announcement is ignored"
        }
        (cipher, reason) = try Self.choose(zip(parties, announced).map { ($0.name, $1) }, preferences)
        let cipher = cipher
        let isRaised = reason == preferences.standardReason && preferences.standard.isBelow(cipher)
        warnings =
            ignoredAnnouncements
            + (isRaised
                ? ["\(preferences.standard.name) is below the floor: \(cipher.name) is used"] : [])
        verdicts = zip(parties, announced).map { party, ciphers in
            let wrapping = Self.wrapping(party, cipher)
            return Verdict(
                name: party.name,
                ciphers: ciphers,
                recipient: Recipient(unchecked: party.certificate, rsaWrapping: wrapping),
                certificate: party.certificate
            )
        }
    }

    private static func choose(
        _ announced: [(name: String, ciphers: [ContentCipher])],
        _ preferences: Preferences
    ) throws(MessageError) -> (ContentCipher, Reason) {
        if let demanded = preferences.demanded {
            guard !demanded.isBelow(preferences.floor) else {
                throw .cipherBelowFloor(demanded, floor: preferences.floor)
            }
            return (demanded, .demanded)
        }
        let known = announced.filter { !$0.ciphers.isEmpty }
        let standard = preferences.usableStandard
        guard !known.isEmpty else { return (standard, preferences.standardReason) }
        let common = ContentCipher.writable.filter { cipher in known.allSatisfy { $0.ciphers.contains(cipher) } }
        // If a recipient's capabilities are unknown, the standard cipher is used, provided that the other recipients support
        // it.
        if known.count < announced.count, common.contains(standard) { return (standard, preferences.standardReason) }
        guard let best = common.first else {
            let lists = known.map { party in
                "\(party.name) announces \(party.ciphers.map(\.name).joined(separator: ", "))"
            }
            throw .noCommonCipher(lists.joined(separator: "; "))
        }
        return (best, .announced)
    }

    private static func ciphers(_ party: Party, floor: ContentCipher) -> [ContentCipher] {
        var seen: Set<ContentCipher> = []
        return (party.capabilities ?? []).compactMap(\.cipher).filter {
            !$0.isBelow(floor) && seen.insert($0).inserted
        }
    }

    /// How the content key is encrypted for an RSA key.
    ///
    /// - A recipient with known capabilities gets OAEP with SHA-256 if announced, otherwise the first announced scheme,
    ///   otherwise PKCS#1 v1.5.
    /// - The sender, and a recipient with unknown capabilities, get OAEP with SHA-256 if the cipher is authenticated, otherwise
    ///   PKCS#1 v1.5, which all programs can read.
    static func wrapping(_ party: Party, _ cipher: ContentCipher) -> Recipient.RSAWrapping {
        let unknown = cipher.isAuthenticated ? Recipient.RSAWrapping.oaep : .pkcs1
        guard let capabilities = party.capabilities, !party.isOurs else { return unknown }
        let announced = capabilities.compactMap(\.rsaWrapping)
        return announced.contains(.oaep) ? .oaep : announced.first ?? .pkcs1
    }
}

extension ContentCipher {
    /// Whether the cipher is weaker than `floor`: `floor` precedes it in the table.
    fileprivate func isBelow(_ floor: ContentCipher) -> Bool {
        let order = ContentCipher.writable
        return (order.firstIndex(of: self) ?? order.endIndex) > (order.firstIndex(of: floor) ?? order.endIndex)
    }
}
