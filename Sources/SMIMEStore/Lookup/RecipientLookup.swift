package import Foundation
package import InternetMessage
package import PKIX

/// Finds the certificates to which mail is encrypted: in the registry, then in the other sources, in their order.
///
/// All lookups of recipients' certificates use this type. With `Extent.missing`, a source is queried only about addresses
/// that have no usable certificate of their own in earlier sources. If a source cannot be queried, the choice says
/// so, because the source may have the certificate.
package struct RecipientLookup: Sendable {
    /// The addresses about which the sources after the registry are queried.
    package enum Extent: Sendable {
        /// All addresses, to list all certificates.
        case everything
        /// The addresses for which no usable certificate of their own was found so far.
        case missing
    }

    /// The result of a lookup.
    package struct Answer: Sendable {
        /// The choice for each address, in the order of the addresses.
        package let choices: [RecipientChoice]
        /// One sentence for each source that could not be queried, for unusable data in sources and in the store, for
        /// each usable certificate of one of the store's accounts whose private key the store lacks, and for each held
        /// certificate from a source after the registry.
        package let warnings: [String]
    }

    /// The store, whose registry is searched first.
    package let store: Store
    /// The sources after the registry.
    package internal(set) var sources: [any CertificateSource]
    /// Whether the system's trust anchors are trusted.
    package let systemAnchors: Bool
    /// The options for validating chains.
    package let options: ValidationOptions
    /// The services that are queried about revocation if the local data does not decide; nil if no services are queried.
    package let revocation: (any RevocationSource)?
    /// The minimum number of new verdicts to store: validating a few certificates takes less time than writing to the disk.
    package var fewestKept = 32
    /// How long remote sources may take, and how long their answers are cached.
    package var limits = LookupLimits.standard
    /// Whether remote sources are queried even if an answer is cached.
    package var ignoresCachedAnswers = false
    /// The same bytes at each attempt to send one message, so that a message to many recipients does not wait forever if
    /// remote sources are slow; nil if there is only one attempt.
    package var message: [UInt8]?
    /// Returns the other addresses that may receive mail for an address, such as the address without its detail. If one of
    /// them belongs to an account of this store, remote sources are not queried about the address.
    package var ownForms: @Sendable (EmailAddress) -> [EmailAddress] = { _ in [] }

    package init(
        store: Store,
        sources: [any CertificateSource] = [],
        systemAnchors: Bool,
        options: ValidationOptions = ValidationOptions(),
        revocation: (any RevocationSource)? = nil
    ) {
        self.store = store
        self.sources = sources
        self.systemAnchors = systemAnchors
        self.options = options
        self.revocation = revocation
    }

    /// The choice of a certificate for each of `addresses` at `time`.
    package func choices(
        for addresses: [AddressScope],
        at time: Date,
        asking extent: Extent = .missing
    ) async throws(KeystoreError) -> Answer {
        try await choices(for: addresses, at: time, asking: extent, with: { _ in }).answer
    }

    /// Like `choices(for:at:asking:)`, and also returns the value that `body` computes from the same snapshot of the store.
    ///
    /// - Parameters:
    ///   - needs: returns the addresses about which a remote source may be queried, given the value and the choices so far;
    ///     nil permits all. A source need not learn about a recipient to whom nothing is encrypted.
    ///   - body: may be called several times; the last value is returned.
    package func choices<Value: Sendable>(
        for addresses: [AddressScope],
        at time: Date,
        asking extent: Extent = .missing,
        needs: ((Value, [RecipientChoice]) -> Set<AddressScope>)? = nil,
        with body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) async throws(KeystoreError) -> (answer: Answer, value: Value) {
        var (evidence, value) = try await look(for: addresses, [], body)
        var (choices, new) = evidence.choices(at: time, under: options)
        var found: [FoundCertificate] = []
        var warnings: [String] = []
        var outages: [AddressScope: [String]] = [:]
        var held: Set<AddressScope> = []
        var remote = RemoteLookup(store, limits, isFresh: ignoresCachedAnswers, for: message, ownForms: ownForms)
        for (index, source) in sources.enumerated() {
            var wanted = extent == .everything ? addresses : choices.filter(\.hasNoneOfItsOwn).map(\.address)
            if source is any RemoteSource, let needs {
                let needed = needs(value, choices)
                wanted.removeAll { !needed.contains($0) }
                guard !wanted.isEmpty else { continue }
            }
            guard !wanted.isEmpty else { break }
            switch try await Self.answer(of: source, for: Self.withDomains(wanted), &remote) {
            case .success(var answer):
                for position in answer.found.indices { answer.found[position].rank = index + 1 }
                warnings += answer.warnings
                for address in wanted {
                    let domain = address.address.map(AddressScope.init(domainOf:))
                    let both = [address, domain].compactMap { $0.flatMap { answer.outages[$0] } }
                    guard let outage = both.first(where: \.holdsMail) ?? both.first else { continue }
                    outages[address, default: []].append(Self.text(source, outage))
                    if outage.holdsMail || !(source is any RemoteSource) { held.insert(address) }
                }
                guard !answer.found.isEmpty else { continue }
                found += answer.found
            case .failure(let error):
                for address in wanted { outages[address, default: []].append(Self.text(source, error)) }
                if !(source is any RemoteSource) { held.formUnion(wanted) }
                continue
            }
            (evidence, value) = try await look(for: addresses, found, body)
            (choices, new) = evidence.choices(at: time, under: options)
        }
        await store.keep(new, from: fewestKept)
        choices = await afterAsking(evidence, choices, at: time)
        for index in choices.indices {
            choices[index].outages = outages[choices[index].address] ?? []
            choices[index].isHeldByOutage = held.contains(choices[index].address)
        }
        warnings += choices.flatMap(\.keylessWarnings) + choices.flatMap(\.heldWarnings)
        warnings += evidence.unreadable.map(\.text).sorted().map {
            "\($0): a certificate in the store cannot be read, and is ignored"
        }
        var told: Set<String> = []
        warnings += addresses.flatMap { outages[$0] ?? [] }.filter { told.insert($0).inserted }
        return (Answer(choices: choices, warnings: warnings), value)
    }

    private static func answer(
        of source: any CertificateSource,
        for addresses: [AddressScope],
        _ remote: inout RemoteLookup
    ) async throws(KeystoreError) -> Result<SourceAnswer, SourceOutage> {
        if let source = source as? any RemoteSource {
            return .success(try await remote.answer(of: source, for: addresses))
        }
        do throws(SourceOutage) {
            return .success(try await source.ask { source throws(SourceOutage) in try source.search(for: addresses) })
        } catch { return .failure(error) }
    }

    private static func text(_ source: any CertificateSource, _ outage: SourceOutage) -> String {
        "the source \(source.kind.rawValue) cannot be asked: \(outage.reason)"
    }

    /// How many times another certificate may be chosen after a chosen one turns out to be revoked.
    private static let maximumRounds = 4

    /// The choices after the revocation services were queried about the certificates that would be used.
    private func afterAsking(
        _ evidence: RecipientEvidence,
        _ choices: [RecipientChoice],
        at time: Date
    ) async -> [RecipientChoice] {
        guard let revocation = revocation?.forOneVerdict(), options.revocation != .off else { return choices }
        var (choices, options) = (choices, options)
        // A query about revocation needs the chain, which a stored verdict does not have.
        if choices.contains(where: \.lacksChains), await revocation.isAsking() {
            choices = evidence.choices(at: time, under: options, asks: true).choices
        }
        for _ in 0..<Self.maximumRounds {
            let asked = await options.asking(revocation, about: choices.flatMap(\.wantedChains), at: time)
            guard asked != options else { break }
            options = asked
            choices = evidence.choices(at: time, under: options, asks: true).choices
        }
        return choices
    }

    private func look<Value: Sendable>(
        for addresses: [AddressScope],
        _ found: [FoundCertificate],
        _ body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) async throws(KeystoreError) -> (RecipientEvidence, Value) {
        let systemAnchors = systemAnchors
        return try await store.read { snapshot in
            (try snapshot.evidence(for: addresses, found, systemAnchors: systemAnchors), try body(snapshot))
        }
    }

    /// `addresses` and their domains, each once.
    private static func withDomains(_ addresses: [AddressScope]) -> [AddressScope] {
        var seen: Set<AddressScope> = []
        return (addresses + addresses.compactMap { $0.address.map(AddressScope.init(domainOf:)) })
            .filter { seen.insert($0).inserted }
    }
}

extension RecipientChoice {
    /// Warns about certificates of this store's accounts that are used or usable, but whose private keys the store does not
    /// have.
    fileprivate var keylessWarnings: [String] {
        candidates.filter { $0.recipient.lacksKey && ($0.reason.isSelected || $0.reason == .keyMissing) }.map {
            "\(address) is an account of this store, which lacks the key of the certificate "
                + "\($0.recipient.certificate.fingerprint) (\($0.recipient.source.rawValue))"
                + ($0.reason.isSelected ? "" : ", so another one is used")
        }
    }

    /// Warns about held certificates from sources after the registry, if no other certificate is selected. Learning warns
    /// about held certificates in the registry.
    fileprivate var heldWarnings: [String] {
        guard selected == nil else { return [] }
        return candidates.filter { $0.recipient.rank > 0 && $0.reason == .held }.map { recipient, _ in
            "\(address): the certificate \(recipient.certificate.fingerprint) (\(recipient.source.rawValue)) is held until it "
                + "is trusted, because another key is pinned, or its key was held before"
        }
    }

    /// Whether no certificate of the address itself is selected. One of its domain may be.
    fileprivate var hasNoneOfItsOwn: Bool { selected.map { $0.address != address } ?? true }
}
