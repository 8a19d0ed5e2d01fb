import Foundation
import InternetMessage
import PKIX

/// Stores in the registry the certificates and capabilities learned from verified messages.
///
/// For a known certificate, only the dates change, by a day or more, and newer capabilities replace older ones.
struct LearningTransaction {
    private static let day: TimeInterval = 24 * 60 * 60
    /// How far a signer's clock may be ahead of this host's clock, in seconds.
    private static let clockTolerance: TimeInterval = 15 * 60

    let database: SQLDatabase
    let now: Date
    let policy: ChangePolicy
    /// Whether to write to the database. If false, only the report is created.
    let writes: Bool

    func run(_ sightings: [SignerSighting]) throws -> LearningReport {
        var report = LearningReport()
        for sighting in sightings { try learn(sighting, &report) }
        return report
    }

    private func learn(_ sighting: SignerSighting, _ report: inout LearningReport) throws {
        let known = try RecipientRecord.all(for: AddressScope(sighting.address), in: database)
        // A signer who is not trusted must not change the author's other certificates: a known one is not updated, and a
        // new one is not trusted either.
        let signer = try trust(in: sighting.certificate, known, sighting)
        var isKnown = false
        for certificate in sighting.certificates {
            let isSigner = certificate == sighting.certificate
            if let recipient = known.first(where: { $0.certificate == certificate }) {
                isKnown = true
                report.known.append((sighting.address, certificate))
                if isSigner || signer == .chain { try update(recipient, sighting, report: &report) }
            } else if sighting.isAnchored {
                isKnown = true
                let own = try trust(in: certificate, known, sighting)
                try insert(certificate, sighting, known: known, trust: own == .chain ? signer : own, report: &report)
            }
        }
        if isKnown, signer == .chain { try learnAuthorities(sighting.authorities, &report) }
    }

    private func insert(
        _ certificate: Certificate,
        _ sighting: SignerSighting,
        known: [KnownRecipient],
        trust: KnownRecipient.Trust,
        report: inout LearningReport
    ) throws {
        let peers = try peers(of: certificate, known)
        let isRenewal = peers.contains { $0.isAccepted && $0.isRenewed(by: certificate) }
        report.entries.append(
            LearningReport.Entry(
                address: sighting.address,
                certificate: certificate,
                kind: peers.isEmpty ? .learned : isRenewal ? .renewed : .changed,
                isHeld: trust != .chain,
                previous: (peers.first(where: \.isAccepted) ?? peers.first)?.certificate,
                messageID: sighting.messageID
            )
        )
        report.changesStore = true
        guard writes else { return }
        let seen = seenTime(sighting).seconds
        let capabilitiesTime = capabilitiesTime(sighting)
        let hasCapabilities = sighting.capabilities != nil && !isFarAhead(sighting)
        // A gateway's role cannot write decisions. The decision about the key applies nevertheless, and nothing is encrypted
        // to a held certificate.
        let trust = try trust == .distrusted && !database.isOwner() ? KnownRecipient.Trust.held : trust
        // There is a conflict with a row that cannot be read, which `smime store check` reports. It stays as it is.
        try database.execute(
            """
            INSERT INTO recipient (address_key, certificate, address, source, source_detail, first_seen, last_seen,
                trust, capabilities, capabilities_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
            """,
            [
                sighting.address.key, try CertificateRecord.insert(certificate, into: database), sighting.address.text,
                KnownRecipient.Source.harvest.rawValue, sighting.messageID, seen, seen, trust.rawValue,
                hasCapabilities ? sighting.capabilities : nil,
                hasCapabilities ? capabilitiesTime?.seconds : nil,
            ]
        )
    }

    /// The trust in `certificate`, known or new: `.chain`, `.held` or `.distrusted`.
    ///
    /// A new certificate is distrusted if its key is. Otherwise it is `.chain` if it renews a trusted certificate,
    /// `.held` if its key is held, and `.chain` if it is the first for its use. The policy decides about all others.
    private func trust(
        in certificate: Certificate,
        _ known: [KnownRecipient],
        _ sighting: SignerSighting
    ) throws -> KnownRecipient.Trust {
        if let recipient = known.first(where: { $0.certificate == certificate }) {
            return recipient.isAccepted ? .chain : recipient.trust
        }
        let sameKey = known.filter { $0.certificate.publicKeyDigest == certificate.publicKeyDigest }
        if sameKey.contains(where: { $0.trust == .distrusted }) { return .distrusted }
        let peers = try peers(of: certificate, known)
        if peers.contains(where: { $0.isAccepted && $0.isRenewed(by: certificate) }) { return .chain }
        if sameKey.contains(where: { $0.trust == .held }) { return .held }
        guard !peers.isEmpty else { return .chain }
        switch policy {
        case .hold: return .held
        case .sameRoot: return try hasKnownKeyOrAnchor(certificate, after: peers, sighting) ? .chain : .held
        case .use: return .chain
        }
    }

    /// The known certificates that have a use in common with `certificate`, except imported ones that no user has decided
    /// about and that chain to no trust anchor: anyone can make such a certificate for any address, and it may come with
    /// an import.
    private func peers(of certificate: Certificate, _ known: [KnownRecipient]) throws -> [KnownRecipient] {
        try known.filter { $0.certificate.sharesUse(with: certificate) }.filter { recipient in
            guard recipient.trust == .chain, recipient.source != .harvest, recipient.source != .identity else {
                return true
            }
            return try root(above: recipient.certificate, []) != nil
        }
    }

    private func update(
        _ recipient: KnownRecipient,
        _ sighting: SignerSighting,
        report: inout LearningReport
    ) throws {
        // Nothing is learned about the store's own identities.
        guard recipient.source != .identity else { return }
        let seen = seenTime(sighting)
        let first = recipient.firstSeen.timeIntervalSince(seen) >= Self.day ? seen : recipient.firstSeen
        let last = seen.timeIntervalSince(recipient.lastSeen) >= Self.day ? seen : recipient.lastSeen
        let announces = announcesNewly(sighting, recipient)
        guard announces || first != recipient.firstSeen || last != recipient.lastSeen else { return }
        report.changesStore = true
        guard writes, let row = try CertificateRecord.id(of: recipient.certificate.fingerprint, in: database) else {
            return
        }
        let capabilities = announces ? sighting.capabilities : recipient.capabilities
        let time = announces ? capabilitiesTime(sighting) : recipient.capabilitiesTime
        try database.execute(
            """
            UPDATE recipient SET first_seen = ?, last_seen = ?, capabilities = ?, capabilities_time = ?
            WHERE address_key = ? AND certificate = ?
            """,
            [
                first.seconds, last.seconds, capabilities, time?.seconds, recipient.address.key, row,
            ],
            isCounted: announces
        )
    }

    /// Whether the capabilities of `sighting` replace the known ones. Older capabilities never replace newer ones.
    private func announcesNewly(_ sighting: SignerSighting, _ recipient: KnownRecipient) -> Bool {
        guard let capabilities = sighting.capabilities, !isFarAhead(sighting) else { return false }
        guard let known = recipient.capabilities else { return true }
        guard let time = capabilitiesTime(sighting) else { return false }
        guard let knownTime = recipient.capabilitiesTime else { return true }
        let age = time.timeIntervalSince(knownTime)
        return capabilities == known ? age >= Self.day : age > 0
    }

    private func learnAuthorities(_ authorities: [Certificate], _ report: inout LearningReport) throws {
        for certificate in authorities where try !isAuthority(certificate) {
            report.changesStore = true
            guard writes else { continue }
            try database.execute(
                "INSERT INTO intermediate (certificate, learned) VALUES (?, 1) ON CONFLICT DO NOTHING",
                [try CertificateRecord.insert(certificate, into: database)]
            )
        }
    }

    private func isAuthority(_ certificate: Certificate) throws -> Bool {
        let name: SQLArguments = [certificate.fingerprint.bytes]
        return try database.cached(.authority, name) {
            try database.value(
                """
                SELECT EXISTS (SELECT 1 FROM certificate WHERE fingerprint = ? AND (
                    id IN (SELECT certificate FROM intermediate) OR id IN (SELECT certificate FROM anchor)))
                """,
                name,
                as: Bool.self
            )
        } ?? false
    }

    /// The time of the sighting for the registry: the signing time if it is plausible, otherwise the current time.
    private func seenTime(_ sighting: SignerSighting) -> Date {
        guard let time = sighting.signingTime, time >= sighting.certificate.notBefore else { return now }
        return min(time, now)
    }

    private func capabilitiesTime(_ sighting: SignerSighting) -> Date? { sighting.signingTime.map { min($0, now) } }

    /// Whether the signing time is in the future by more than `clockTolerance`. The capabilities of such a message are
    /// ignored (RFC 8551 §2.7).
    private func isFarAhead(_ sighting: SignerSighting) -> Bool {
        sighting.signingTime.map { $0.timeIntervalSince(now) > Self.clockTolerance } ?? false
    }
}

extension LearningTransaction {
    /// Whether `certificate` is for the key of a trusted certificate, or has the same trust anchor as all trusted
    /// certificates; expired ones without an anchor are ignored. The anchor of only one of them does not suffice, because
    /// another CA may have certified a known key. The anchor never suffices if a user imported or pinned a trusted
    /// certificate.
    func hasKnownKeyOrAnchor(
        _ certificate: Certificate,
        after peers: [KnownRecipient],
        _ sighting: SignerSighting
    ) throws -> Bool {
        let accepted = peers.filter(\.isAccepted)
        if accepted.contains(where: { $0.certificate.publicKeyDigest == certificate.publicKeyDigest }) { return true }
        guard accepted.allSatisfy({ $0.source == .harvest && $0.trust == .chain }),
            let root = try root(above: certificate, sighting.authorities)
        else { return false }
        // The anchor of an expired certificate may have been removed. Then another certificate must have the same anchor.
        let known = try accepted.map { (recipient: $0, root: try self.root(above: $0.certificate, [])) }
        return known.contains { $0.root == root }
            && known.allSatisfy { $0.root == root || $0.root == nil && $0.recipient.certificate.notAfter < now }
    }

    /// The key of the trust anchor at the end of the chain of `certificate`, even if the certificate has expired; nil if
    /// there is no chain to an anchor, or if the chain has another error.
    private func root(above certificate: Certificate, _ extra: [Certificate]) throws -> PublicKeyDigest? {
        var trust = try TrustStore(judging: [certificate] + extra, systemAnchors: true, in: database)
        trust.pinned = []
        trust.options.revocation = .off
        let time = max(certificate.notBefore, min(now, certificate.notAfter))
        let purpose: Certificate.KeyPurpose = certificate.canSign ? .signing : .encryption
        let verdict = trust.judge(certificate, extra: extra, purpose: purpose, at: time)
        guard verdict.isTrusted, case .anchor? = verdict.trust else { return nil }
        return verdict.certificates.last?.publicKeyDigest
    }
}
