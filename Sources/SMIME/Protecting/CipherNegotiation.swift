package import CMSSyntax
package import PKIX

/// Which cipher a message is encrypted with, how each key is wrapped, and why. The result depends on the arguments alone.
///
/// RFC 8551 §2.7.1
package struct CipherNegotiation: Sendable {
    /// A reader that the message is encrypted to.
    package struct Party: Sendable {
        /// The name in reports: an address, or a certificate's subject.
        package let name: String
        /// The one to encrypt to.
        package let certificate: Certificate
        /// The capabilities that the party announced; nil if unknown.
        package let capabilities: [SMIMECapability]?
        /// Whether the reader is the sender, whose other mail programs have unknown capabilities.
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
        /// The cipher that the user demands; it is not negotiated, but must not be below the floor.
        package var demanded: ContentCipher?
        /// The cipher for unknown capabilities.
        package var standard: ContentCipher
        /// Why that: `standard`, or whose rule says so.
        package var standardReason: Reason
        /// The weakest cipher that is ever used.
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

        /// The standard, or the floor if that is better.
        fileprivate var usableStandard: ContentCipher { standard.isBelow(floor) ? floor : standard }
    }

    /// Why it is this cipher.
    package enum Reason: String, Sendable {
        /// The best cipher that all recipients with announced capabilities announce.
        case announced
        /// The capabilities of some or all recipients are unknown, and a rule for the sender decides.
        case account
        /// It was asked for.
        case demanded
        /// The capabilities of some or all recipients are unknown, and a rule for a recipient decides.
        case recipient
        /// The capabilities of some or all recipients are unknown.
        case standard
    }

    /// The result for one party.
    package struct Verdict: Sendable {
        /// The name in reports, as the party's.
        package let name: String
        /// The ciphers announced, in the order of the announcement, those below the floor left out.
        package let ciphers: [ContentCipher]
        /// How the content key is wrapped for it.
        package let recipient: Recipient
        /// The party's certificate.
        package let certificate: Certificate
    }

    /// The cipher that all can read.
    package let cipher: ContentCipher
    /// Why it is this one.
    package let reason: Reason
    /// In the order of the parties.
    package let verdicts: [Verdict]
    /// Each in one sentence without a full stop.
    package let warnings: [String]

    /// The recipients with the key wrapping of each; each certificate once.
    package var recipients: [Recipient] {
        var seen: Set<Fingerprint> = []
        return verdicts.filter { seen.insert($0.certificate.fingerprint).inserted }.map(\.recipient)
    }

    /// - Throws: `MessageError.noCommonCipher`, naming who announces what; `.cipherBelowFloor`.
    package init(for parties: [Party], _ preferences: Preferences) throws(MessageError) {
        let announced = parties.map { Self.ciphers($0, floor: preferences.floor) }
        let unknown = zip(parties, announced).compactMap { party, ciphers -> String? in
            let announcesSome = party.capabilities?.contains { $0.isCipher } ?? false
            guard announcesSome, ciphers.isEmpty else { return nil }
            return "\(party.name) announces no cipher as good as \(preferences.floor.name): taken as unknown"
        }
        (cipher, reason) = try Self.choose(zip(parties, announced).map { ($0.name, $1) }, preferences)
        let cipher = cipher
        let isRaised = reason == preferences.standardReason && preferences.standard.isBelow(cipher)
        warnings =
            unknown
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
        // Recipients with unknown capabilities get the usual cipher, if the others can read it.
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

    /// OAEP for recipients who announce it, and for unknown ones with a modern cipher; else v1.5, which all can read.
    static func wrapping(_ party: Party, _ cipher: ContentCipher) -> Recipient.RSAWrapping {
        let unknown = cipher.isAuthenticated ? Recipient.RSAWrapping.oaep : .pkcs1
        guard let capabilities = party.capabilities, !party.isOurs else { return unknown }
        let announced = capabilities.compactMap(\.rsaWrapping)
        return announced.contains(.oaep) ? .oaep : announced.first ?? .pkcs1
    }
}

extension ContentCipher {
    /// Whether `floor` goes before it in the table.
    fileprivate func isBelow(_ floor: ContentCipher) -> Bool {
        let order = ContentCipher.writable
        return (order.firstIndex(of: self) ?? order.endIndex) > (order.firstIndex(of: floor) ?? order.endIndex)
    }
}
