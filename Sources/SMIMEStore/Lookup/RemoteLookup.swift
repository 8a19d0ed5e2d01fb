import Foundation
import InternetMessage
import LibCrypto
import PKIX
import Synchronization

/// Queries remote sources for one message, within a time limit. Does not query about this store's accounts, nor (unless the
/// caller wants fresh answers) while an answer is cached.
///
/// No transaction of the store is open during a query.
struct RemoteLookup {
    private let store: Store
    private let limits: LookupLimits
    /// Whether sources are queried even if an answer is cached.
    private let isFresh: Bool
    /// See `RecipientLookup.message`.
    private let message: [UInt8]?
    /// Returns the other addresses that may receive mail for an address, such as the address without its detail. If one of
    /// them belongs to an account, sources are not queried about the address.
    private let ownForms: @Sendable (EmailAddress) -> [EmailAddress]
    private var left: Duration

    init(
        _ store: Store,
        _ limits: LookupLimits,
        isFresh: Bool,
        for message: [UInt8]?,
        ownForms: @escaping @Sendable (EmailAddress) -> [EmailAddress]
    ) {
        self.store = store
        self.message = message
        self.ownForms = ownForms
        self.limits = limits
        self.isFresh = isFresh
        left = limits.budget
    }

    /// The answer of `source` about `addresses`, from the cache or by a query.
    ///
    /// The answer's `outages` has the addresses for which there was no query or no answer in time.
    ///
    /// - Throws: what reading the store throws: mail must wait for the store, and must not be sent unencrypted.
    mutating func answer(
        of source: any RemoteSource,
        for addresses: [AddressScope]
    ) async throws(KeystoreError) -> SourceAnswer {
        // A source without certificates for whole domains is queried only about addresses.
        let addresses = addresses.filter { !$0.isDomain || source.knowsDomains }
        guard !addresses.isEmpty else { return SourceAnswer() }
        let name: String
        do throws(SourceOutage) { name = try Self.name(of: source) } catch {
            return Self.with(error, about: addresses, SourceAnswer())
        }
        let (foreign, kept) = try await look(for: addresses, of: name)
        var answer = SourceAnswer()
        let current = kept.filter { !$0.isExpired }
        for item in current { item.add(to: &answer, from: source.kind) }
        let known = Set(current.map(\.address))
        let unknown = foreign.filter { !known.contains($0) }
        let pauses = pauses(name)
        if !isFresh {
            for address in unknown { answer.outages[address] = pauses.outage(about: address) }
        }
        let paused = answer.outages
        let turns = turns(name, source.kind, expired: kept.filter(\.isExpired))
        let missing = turns.ordered(unknown.filter { paused[$0] == nil })
        guard !missing.isEmpty else { return turns.completed(answer) }
        let limit = min(source.timeLimit, left)
        guard limit > .zero else {
            turns.add(missing, "other sources used up the lookup time of the message", to: &answer)
            return turns.completed(answer)
        }
        // Less than half of the time is left, because other sources used it.
        let hasLittleTime = limit < min(source.timeLimit, limits.budget) / 2
        let start = ContinuousClock.now
        // Answers that arrive before the deadline are cached, so that the next attempt has less to query.
        let deadline = start + limit * 9 / 10
        var new: SourceAnswer
        do throws(SourceOutage) {
            new = try await source.ask(within: limit) { source throws(SourceOutage) in
                try source.search(for: missing, until: deadline)
            }
        } catch {
            let elapsed = start.duration(to: .now)
            left -= elapsed
            // A source is not paused if it used up its time, and that was less than its own time limit.
            let isOver = elapsed >= limit * 9 / 10
            // A fault of this host does not slow mail down, and may be mended at any time.
            if limit == source.timeLimit || !isOver, !error.holdsMail { pauses.note(error, about: nil) }
            if isOver, hasLittleTime {
                turns.add(missing, error.reason, to: &answer)
                return turns.completed(answer)
            }
            return turns.completed(Self.with(error, about: missing, answer))
        }
        left -= start.duration(to: .now)
        if limit == source.timeLimit {
            for address in new.late { pauses.note(new.outages[address], about: address) }
        }
        if hasLittleTime { new.unasked.formUnion(new.late.filter { new.outages[$0]?.holdsMail == false }) }
        for address in new.unasked { turns.add([address], new.outages[address]?.reason ?? "", to: &new) }
        // If mail does not wait for this source, no further attempt is needed.
        if new.outages.values.contains(where: \.holdsMail) { turns.note(missing, new) }
        await keep(missing.compactMap { answerToKeep(new, about: $0) }, of: name)
        answer.found += new.found
        answer.warnings += new.warnings
        answer.outages.merge(new.outages) { old, _ in old }
        return turns.completed(answer)
    }

    /// The addresses and domains in `addresses` that `foreign` permits, and the cached answers of the source `name`, some of
    /// which may have expired.
    private func look(
        for addresses: [AddressScope],
        of name: String
    ) async throws(KeystoreError) -> (foreign: [AddressScope], kept: [KeptAnswer]) {
        let isFresh = isFresh
        let ownForms = ownForms
        let limits = limits
        return try await store.read { snapshot in
            let database = snapshot.database
            let foreign = try Self.foreign(addresses, ownForms, in: database)
            guard !isFresh else { return (foreign, []) }
            do {
                let kept = try KeptAnswer.answers(of: name, about: foreign, at: .now, limits, in: database)
                return (foreign, kept.filter(mayCache))
            } catch let error as SQLError where error.kind == .forbidden || error.kind == .mismatch {
                // The tables have an older schema version, or the role has no rights for this table yet.
                return (foreign, [])
            }
        }
    }

    /// The addresses in `addresses` that do not belong to accounts of this store, and the domains. If addresses of a domain
    /// are in `addresses` but all belong to accounts, the domain is left out: the query would be about them.
    private static func foreign(
        _ addresses: [AddressScope],
        _ ownForms: (EmailAddress) -> [EmailAddress],
        in database: SQLDatabase
    ) throws -> [AddressScope] {
        let foreign = try addresses.filter { scope in
            guard let address = scope.address else { return true }
            return try ([address] + ownForms(address)).allSatisfy {
                try AccountRecord.id(sendingAs: $0, in: database) == nil
            }
        }
        func domains(_ scopes: [AddressScope]) -> Set<AddressScope> {
            Set(scopes.compactMap { $0.address.map(AddressScope.init(domainOf:)) })
        }
        let own = domains(addresses).subtracting(domains(foreign))
        return foreign.filter { !own.contains($0) }
    }

    /// Whether `answer` may be cached. Other hosts also write a store on a server. A certificate for an address must name
    /// the address, but one for a domain could be that of any person there.
    private func mayCache(_ answer: KeptAnswer) -> Bool {
        !answer.address.isDomain || answer.certificates.isEmpty || store.location.server == nil
    }

    private func pauses(_ name: String) -> SourcePauses { SourcePauses(of: "\(name) \(store.location.path)") }

    private func turns(_ name: String, _ kind: KnownRecipient.Source, expired: [KeptAnswer]) -> SourceTurns {
        SourceTurns(of: "\(name) \(store.location.path)", kind, for: message, expired: expired)
    }

    private func keep(_ answers: [KeptAnswer], of name: String) async {
        guard !answers.isEmpty else { return }
        let limits = limits
        await store.writeCache { try KeptAnswer.keep(answers, of: name, at: .now, limits, in: $0) }
    }

    /// The part of `answer` about `address`, for the cache; nil if the answer is unknown or must not be cached.
    private func answerToKeep(_ answer: SourceAnswer, about address: AddressScope) -> KeptAnswer? {
        guard answer.outages[address] == nil else { return nil }
        let found = answer.found.filter { $0.address == address }
        let retention = found.isEmpty ? limits.retentionOfNone : limits.retention
        let lifetime = min(retention, answer.lifetimes[address] ?? retention)
        guard lifetime > .zero else { return nil }
        let kept = KeptAnswer(
            address: address,
            time: .now,
            until: .now + lifetime.timeInterval,
            certificates: found.map(\.certificate) + Set(found.flatMap(\.authorities)),
            detail: found.first?.detail ?? ""
        )
        return mayCache(kept) ? kept : nil
    }

    private static func with(
        _ outage: SourceOutage,
        about addresses: [AddressScope],
        _ answer: SourceAnswer
    ) -> SourceAnswer {
        var answer = answer
        for address in addresses { answer.outages[address] = outage }
        return answer
    }

    /// The name under which answers of `source` are cached.
    private static func name(of source: any RemoteSource) throws(SourceOutage) -> String {
        do {
            let digest = try DigestAlgorithm.sha256.digest(Array(source.identity.utf8))
            return "\(source.kind.rawValue) \(Fingerprint(bytes: digest)?.hexadecimal ?? "")"
        } catch { throw SourceOutage("\(error)") }
    }
}

extension KeptAnswer {
    /// Adds the cached certificates to `answer`.
    func add(to answer: inout SourceAnswer, from source: KnownRecipient.Source) {
        answer.add(certificates, for: address, from: source, at: detail)
    }
}

/// The sources that this process could not query recently, and does not query for a while.
///
/// The cause may exist only on this host, so the pauses are not shared with other hosts and processes.
struct SourcePauses {
    private struct Place: Hashable {
        let source: String
        /// The address that is paused; nil if the whole source is paused.
        let address: AddressScope?
    }

    private static let all = Mutex<[Place: (outage: SourceOutage, end: ContinuousClock.Instant)]>([:])
    /// The maximum number of pauses.
    private static let maximumCount = 1000

    private let source: String

    /// - Parameter source: a name of the source that is different for each store.
    init(of source: String) { self.source = source }

    /// The reason why the source is not queried about `address`; nil if it may be queried. The text says that there was
    /// no query, so that an administrator does not look for the cause at this address or at this time.
    func outage(about address: AddressScope) -> SourceOutage? {
        let cause = Self.all.withLock { all in
            let domain = address.address.map(AddressScope.init(domainOf:))
            let kept = [nil, address, domain ?? address].compactMap { all[Place(source: source, address: $0)] }
            return kept.first { $0.end > .now }?.outage
        }
        let seconds = LookupLimits.pauseAfterOutage.components.seconds
        return cause.map { outage in
            let reason = "it was not asked, less than \(seconds) s after an outage: \(outage.reason)"
            return SourceOutage(reason, holdsMail: outage.holdsMail)
        }
    }

    /// Pauses the source for `address`, or completely if `address` is nil.
    func note(_ outage: SourceOutage?, about address: AddressScope?) {
        guard let outage else { return }
        Self.all.withLock { all in
            if all.count >= Self.maximumCount { all = all.filter { $0.value.end > .now } }
            // The pause of a whole source counts most, and there are few sources.
            guard address == nil || all.count < Self.maximumCount else { return }
            all[Place(source: source, address: address)] = (outage, .now + LookupLimits.pauseAfterOutage)
        }
    }
}
