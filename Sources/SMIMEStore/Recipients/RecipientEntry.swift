package import Foundation
import InternetMessage
package import PKIX

/// A certificate of an address or domain in a list, created from the database columns without parsing the certificate.
package struct RecipientEntry: Sendable {
    /// The address or the domain for which the certificate is known.
    package let address: AddressScope
    /// The certificate's fingerprint.
    package let fingerprint: Fingerprint
    /// The certificate's subject and issuer.
    package let subject, issuer: String
    /// The email addresses that the certificate names.
    package let addresses: [String]
    /// The first second in which the certificate is valid.
    package var notBefore: Date { traits.notBefore }
    /// The last second in which the certificate is valid.
    package var notAfter: Date { traits.notAfter }
    /// The source from which the certificate was first known; `identity` if a learned or held certificate became the
    /// account's own.
    package let source: KnownRecipient.Source
    /// Details about the source, such as the Message-ID of the mail from which the certificate was learned; nil if there
    /// are none.
    package let sourceDetail: String?
    /// When the certificate was first seen, as in `KnownRecipient`.
    package let firstSeen: Date
    /// When the certificate was last seen, as in `KnownRecipient`.
    package let lastSeen: Date
    /// Whether and why the certificate is trusted.
    package private(set) var trust: KnownRecipient.Trust
    /// The DER of the SMIMECapabilities that the owner announced last in signed mail (RFC 8551 §2.5.2); nil if there are
    /// none.
    package let capabilities: [UInt8]?
    /// The signing time of the mail that announced the capabilities; nil if unknown.
    package let capabilitiesTime: Date?

    let rank: Int
    let lacksKey: Bool
    let key: [UInt8]
    let traits: CertificateTraits
    let record: VerdictRecord?
    let namesAddress: Bool
}

extension RecipientEntry: SelectableRecipient {
    func with(_ trust: KnownRecipient.Trust) -> RecipientEntry {
        var entry = self
        entry.trust = trust
        return entry
    }
}

extension RecipientEntry {
    /// The list entry of `recipient`.
    package init(_ recipient: KnownRecipient) {
        let certificate = recipient.certificate
        self.init(
            address: recipient.address,
            fingerprint: certificate.fingerprint,
            subject: certificate.subject.description,
            issuer: certificate.issuer.description,
            addresses: certificate.addresses,
            source: recipient.source,
            sourceDetail: recipient.sourceDetail,
            firstSeen: recipient.firstSeen,
            lastSeen: recipient.lastSeen,
            trust: recipient.trust,
            capabilities: recipient.capabilities,
            capabilitiesTime: recipient.capabilitiesTime,
            rank: recipient.rank,
            lacksKey: recipient.lacksKey,
            key: recipient.key,
            traits: recipient.traits,
            record: nil,
            namesAddress: recipient.namesAddress
        )
    }

    static func columns(in database: SQLDatabase) -> String {
        """
        SELECT address_key, address, source, source_detail, first_seen, last_seen, recipient.trust, capabilities,
            capabilities_time, subject_name, issuer_name, addresses, public_key, \(VerdictRecord.columns(in: database))
        FROM recipient JOIN certificate ON certificate.id = recipient.certificate \(VerdictRecord.joins(in: database))
        """
    }

    /// Nil if the certificate must be parsed: its usage depends on libcrypto, or its stored fingerprint is malformed.
    ///
    /// - Parameter scope: the address or domain in the row.
    init?(_ row: SQLRow, of scope: AddressScope) throws {
        let source = KnownRecipient.Source(rawValue: try row.value("source"))
        guard let source, let trust = KnownRecipient.Trust(rawValue: try row.value("trust")) else {
            throw SQLError(.corrupt, "a recipient with an unknown source or trust")
        }
        let record = try VerdictRecord(row, isPinned: trust == .pinned)
        guard !record.usage.contains(.libraryDependent), let fingerprint = Fingerprint(bytes: record.fingerprint) else {
            return nil
        }
        let text: String = try row.value("addresses")
        let addresses = text.isEmpty ? [] : text.components(separatedBy: CertificateDescription.separator)
        self.init(
            address: scope,
            fingerprint: fingerprint,
            subject: try row.value("subject_name"),
            issuer: try row.value("issuer_name"),
            addresses: addresses,
            source: source,
            sourceDetail: try row.optional("source_detail"),
            firstSeen: try row.date("first_seen"),
            lastSeen: try row.date("last_seen"),
            trust: trust,
            capabilities: try row.optional("capabilities"),
            capabilitiesTime: (try row.optional("capabilities_time") as Int?).map {
                Date(timeIntervalSince1970: TimeInterval($0))
            },
            rank: 0,
            lacksKey: false,
            key: try row.value("public_key"),
            traits: CertificateTraits(
                fingerprint: fingerprint,
                notBefore: Date(timeIntervalSince1970: TimeInterval(record.notBefore)),
                notAfter: Date(timeIntervalSince1970: TimeInterval(record.notAfter)),
                isKeyOffered: true,
                isKeyWeak: record.usage.contains(.weakKey),
                keyAllowsEncryption: record.usage.contains(.keyEncryption),
                isAuthority: record.usage.contains(.authority)
            ),
            record: record,
            namesAddress: addresses.contains { (try? EmailAddress($0)).map(scope.contains) ?? false }
        )
    }
}
