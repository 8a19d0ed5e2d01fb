import Foundation
package import PKIX

/// The certificates known for some addresses, with the evidence for validating them, read from one state of the store.
struct RecipientEvidence: Sendable {
    /// What is known for one address.
    private struct Known: Sendable {
        let address: AddressScope
        let recipients: [KnownRecipient]
        /// The CA certificates that sources have for this address. They may complete the chains of all certificates of this
        /// address, whatever their source, but not of other addresses' certificates: the owner of this address may have
        /// published the CA certificates.
        let authorities: [Certificate]
    }

    private let known: [Known]
    /// The addresses with a learned certificate that cannot be read and is ignored.
    let unreadable: Set<AddressScope>
    /// The anchors, decisions and other evidence for certificates whose verdicts must not be stored.
    private let trust: TrustStore
    private let systemAnchors: Bool
    /// The evidence for certificates whose verdicts may be stored.
    private let evidence: GroupedEvidence

    init(
        for addresses: [AddressScope],
        _ found: [FoundCertificate],
        systemAnchors: Bool,
        in database: SQLDatabase
    ) throws {
        let byAddress = Dictionary(grouping: found, by: \.address)
        var domains: [AddressScope: RecipientRecord.KnownCertificates] = [:]
        var unreadable: Set<AddressScope> = []
        let hasIdentities = try database.cached(.hasIdentities) {
            try database.value("SELECT EXISTS (SELECT 1 FROM identity)", as: Bool.self)
        }
        known = try addresses.map { address in
            let read = try RecipientRecord.candidates(for: address, &domains, in: database)
            unreadable.formUnion(read.unreadable)
            let registered = read.recipients
            // The registry's decision about a certificate or its key, such as distrust, also applies if another source has
            // the certificate.
            var certificates = Set(registered.map(\.certificate))
            let scopes = [address] + [address.address.map(AddressScope.init(domainOf:))].compactMap(\.self)
            let others = scopes.flatMap { byAddress[$0] ?? [] }.filter { certificates.insert($0.certificate).inserted }
            var all = (registered + others.map(KnownRecipient.init)).decidedByKey.holdingReplacements
            if hasIdentities == true { try Self.markKeyless(&all, of: address, in: database) }
            var seen: Set<Fingerprint> = []
            let authorities = scopes.flatMap { byAddress[$0] ?? [] }.flatMap(\.authorities)
            return Known(
                address: address,
                recipients: all,
                authorities: authorities.filter { seen.insert($0.fingerprint).inserted }
            )
        }
        self.unreadable = unreadable
        self.systemAnchors = systemAnchors
        let recipients = known.flatMap(\.recipients).filter { $0.trust != .distrusted }
        var evidence = try GroupedEvidence(for: recipients.count, systemAnchors: systemAnchors, in: database)
        var others = known.flatMap(\.authorities)
        for item in known {
            let pinned = item.recipients.pinnedKeys
            for recipient in item.recipients where recipient.trust != .distrusted {
                if item.authorities.isEmpty, let record = recipient.keepableRecord(pinned) {
                    try evidence.add(record, in: database) { recipient.certificate }
                } else {
                    others.append(recipient.certificate)
                }
            }
        }
        self.evidence = evidence
        trust = try TrustStore(judging: others, systemAnchors: systemAnchors, in: database)
    }

    /// If the address belongs to an account with private keys, marks the certificates whose private key the account does
    /// not have: another person may have that key. Certificates that a user added or pinned are not marked.
    private static func markKeyless(
        _ recipients: inout [KnownRecipient],
        of address: AddressScope,
        in database: SQLDatabase
    ) throws {
        guard let own = address.address, let id = try AccountRecord.id(of: own, in: database) else { return }
        let keys = Set(try AccountRecord.account(id, in: database).identities.map(\.certificate.publicKeyInfo))
        guard !keys.isEmpty else { return }
        for index in recipients.indices {
            let recipient = recipients[index]
            guard ![.added, .identity, .domain].contains(recipient.source), recipient.trust != .pinned else { continue }
            recipients[index].lacksKey = !keys.contains(recipient.certificate.publicKeyInfo)
        }
    }

    /// The choice for each address, in the order of the addresses.
    ///
    /// - Parameter asks: whether the caller will query revocation services about certificates with unknown status.
    /// - Returns: the choices, and new verdicts to store.
    func choices(
        at time: Date,
        under options: ValidationOptions,
        asks: Bool = false
    ) -> (choices: [RecipientChoice], new: [NewVerdict]) {
        let trust = trust.judging(by: options)
        var book = VerdictBook(evidence, at: time, under: VerdictOptions(options, systemAnchors: systemAnchors))
        let choices = known.map { item in
            let (address, recipients) = (item.address, item.recipients)
            let pinned = recipients.pinnedKeys
            let own = trust.withOnlyPins(of: recipients)
            let others = PathValidator(own)
            let judged = recipients.map { recipient -> RecipientChoice.Judged? in
                guard recipient.trust != .distrusted else { return nil }
                if item.authorities.isEmpty, let record = recipient.keepableRecord(pinned) {
                    let known = book.verdict(on: record, asks: asks) { recipient.certificate }
                    return RecipientChoice.Judged(verdict: known.verdict, chain: known.chain)
                }
                // All found certificates of an address share one budget, because other people determine their number.
                let validator = recipient.rank > 0 ? others : PathValidator(own)
                return RecipientChoice.Judged(recipient, validator, extra: item.authorities, at: time)
            }
            return RecipientChoice(address: address, recipients: recipients, judged: judged, under: options, at: time)
        }
        return (choices, book.new)
    }
}

extension KnownRecipient {
    /// A certificate from another source, which is not in the store.
    fileprivate init(_ found: FoundCertificate) {
        self.init(
            address: found.address,
            certificate: found.certificate,
            source: found.source,
            sourceDetail: found.detail,
            firstSeen: .now,
            lastSeen: .now,
            rank: found.rank
        )
    }
}

extension TrustStore {
    /// All trust data of the store, for validating any number of certificates without further queries.
    init(whole database: SQLDatabase, systemAnchors: Bool) throws {
        func certificates(_ table: String) throws -> [Certificate] {
            let isLearned = table == "intermediate" ? "learned <> 0" : "FALSE"
            return try database.rows(
                "SELECT der, fingerprint, \(isLearned) AS is_learned FROM \(table) JOIN certificate ON id = certificate"
            ).compactMap { try $0.authority() }
        }
        let lists = try StoredLists(whole: database)
        let (anchors, intermediates) = (try certificates("anchor"), try certificates("intermediate"))
        self.init(
            anchors: anchors,
            intermediates: intermediates.filter { !anchors.contains($0) },
            systemAnchors: systemAnchors ? SystemAnchors() : nil
        )
        use(lists)
        let decided = try database.rows(
            """
            SELECT DISTINCT der, fingerprint FROM recipient JOIN certificate ON id = certificate WHERE trust IN ('pinned', 'distrusted')
            """
        ).map { try $0.certificate() }
        let decisions = try KeyDecisions(on: decided, in: database)
        responses = try ResponseRecord.all(in: database)
        scopes = decisions.scopes
        pinned = Set(scopes.filter { !$0.value.pinned.isEmpty }.keys)
        distrusted = Set(scopes.filter { !$0.value.distrusted.isEmpty }.keys)
        pinnedCertificates = decisions.pinnedCertificates
    }
}

extension AnchorStore {
    /// All trust data of the store, for validating any number of certificates without further queries.
    package func wholeTrust(systemAnchors: Bool) async throws(KeystoreError) -> TrustStore {
        try await database.read { try TrustStore(whole: $0, systemAnchors: systemAnchors) }
    }
}
