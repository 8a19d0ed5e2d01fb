public import CMS
public import Foundation
import GRDB
public import MIME

/// Every certificate that is known for an address, and which of them is used.
public actor RecipientRegistry {
    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// All recipients, by address, newest certificate first.
    public func all() async throws(KeystoreError) -> [KnownRecipient] {
        try await database.read { try RecipientRecord.all(in: $0) }
    }

    /// The certificates known for `address`, newest first; usable or not.
    public func certificates(for address: EmailAddress) async throws(KeystoreError) -> [KnownRecipient] {
        try await database.read { try RecipientRecord.all(for: address, in: $0) }
    }

    /// What is known of each address and which certificate is used at `time`, in the order of `addresses`.
    ///
    /// - Parameter systemAnchors: whether the system's trust anchors count.
    public func choices(
        for addresses: [EmailAddress],
        at time: Date,
        systemAnchors: Bool
    ) async throws(KeystoreError) -> [RecipientChoice] {
        let (known, trust) = try await database.read { database in
            let known = try addresses.map { try RecipientRecord.all(for: $0, in: database) }
            let certificates = known.joined().filter { $0.trust != .distrusted }.map(\.certificate)
            return (known, try TrustStore(judging: certificates, systemAnchors: systemAnchors, in: database))
        }
        return zip(addresses, known).map { RecipientChoice(address: $0, recipients: $1, trust: trust, at: time) }
    }

    /// Remembers the authors of verified messages, in one transaction.
    ///
    /// - Parameters:
    ///   - time: when it happens; what a signer claims to be later is not believed.
    ///   - policy: what becomes of a certificate by another issuer or for another key than those known.
    public func learn(
        _ sightings: [SignerSighting],
        at time: Date,
        onChange policy: ChangePolicy = .use
    ) async throws(KeystoreError) -> LearningReport {
        try await database.write { database in
            try LearningTransaction(database: database, now: time, policy: policy, writes: true).run(sightings)
        }
    }

    /// What `learn` would do now. Nothing is written.
    public func preview(
        _ sightings: [SignerSighting],
        at time: Date,
        onChange policy: ChangePolicy = .use
    ) async throws(KeystoreError) -> LearningReport {
        try await database.read { database in
            try LearningTransaction(database: database, now: time, policy: policy, writes: false).run(sightings)
        }
    }

    /// Changes how far the certificates of `address` are believed, or the one with `fingerprint` only.
    ///
    /// - Returns: the certificates concerned.
    /// - Throws: `.unknownRecipient`, `.unknownCertificate`
    public func setTrust(
        _ trust: KnownRecipient.Trust,
        of address: EmailAddress,
        fingerprint: Fingerprint? = nil
    ) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            let certificates = try Self.certificates(of: address, fingerprint, in: database)
            for certificate in certificates {
                try database.execute(
                    sql: """
                        UPDATE recipient SET trust = ? WHERE address_key = ?
                            AND certificate = (SELECT id FROM certificate WHERE fingerprint = ?)
                        """,
                    arguments: [trust.rawValue, address.key, Data(certificate.fingerprint.bytes)]
                )
            }
            return certificates
        }
    }

    /// Pins every certificate of `address` that was not distrusted by hand.
    ///
    /// - Returns: the certificates concerned; none if all of them are distrusted.
    /// - Throws: `.unknownRecipient`
    public func pinUnlessDistrusted(_ address: EmailAddress) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            let known = try RecipientRecord.all(for: address, in: database)
            guard !known.isEmpty else { throw KeystoreError.unknownRecipient(address) }
            try database.execute(
                sql: "UPDATE recipient SET trust = ? WHERE address_key = ? AND trust <> ?",
                arguments: [
                    KnownRecipient.Trust.pinned.rawValue, address.key, KnownRecipient.Trust.distrusted.rawValue,
                ]
            )
            return known.filter { $0.trust != .distrusted }.map(\.certificate)
        }
    }

    /// Forgets the certificates of `address`, or the one with `fingerprint` only.
    ///
    /// - Returns: the certificates that were forgotten.
    /// - Throws: `.unknownRecipient`, `.unknownCertificate`
    public func remove(
        _ address: EmailAddress,
        fingerprint: Fingerprint? = nil
    ) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            let certificates = try Self.certificates(of: address, fingerprint, in: database)
            let rows = try certificates.compactMap { try CertificateRecord.id(of: $0.fingerprint, in: database) }
            for row in rows {
                try database.execute(
                    sql: "DELETE FROM recipient WHERE address_key = ? AND certificate = ?",
                    arguments: [address.key, row]
                )
            }
            try CertificateRecord.removeUnused(rows, from: database)
            return certificates
        }
    }

    private static func certificates(
        of address: EmailAddress,
        _ fingerprint: Fingerprint?,
        in database: Database
    ) throws -> [Certificate] {
        let known = try RecipientRecord.all(for: address, in: database).map(\.certificate)
        guard !known.isEmpty else { throw KeystoreError.unknownRecipient(address) }
        guard let fingerprint else { return known }
        let matching = known.filter { $0.fingerprint == fingerprint }
        guard !matching.isEmpty else { throw KeystoreError.unknownCertificate(fingerprint) }
        return matching
    }
}

/// What is known for one address, judged.
public struct RecipientChoice: Sendable {
    public let address: EmailAddress
    /// Every certificate known for it, newest first, with the reason why it is used or not.
    public let candidates: [(recipient: KnownRecipient, reason: RecipientSelection.Reason)]

    /// The one that is used; nil if none can be.
    public var selected: KnownRecipient? { candidates.first { $0.reason == .selected }?.recipient }

    /// Judges `recipients`, all of `address`, with the anchors and lists in `trust`.
    public init(address: EmailAddress, recipients: [KnownRecipient], trust: TrustStore, at time: Date) {
        self.address = address
        let chains = recipients.map { recipient in
            guard recipient.trust != .distrusted else { return RecipientSelection.Chain(isTrusted: false) }
            let verdict = trust.judge(recipient.certificate, purpose: .encryption, at: time)
            let isInTime = !verdict.timeProblems.contains { $0.level == .error }
            return RecipientSelection.Chain(
                isTrusted: verdict.isTrusted && isInTime,
                isRevoked: verdict.revocation?.status == .revoked
            )
        }
        let reasons = RecipientSelection.judge(recipients, chains: chains, at: time)
        candidates = Array(zip(recipients, reasons))
    }
}
