import Foundation
import InternetMessage
import LibCrypto
import PKIX

/// Asks remote sources for one message: not about our own accounts, not for longer than allowed, and not again while an answer is kept.
///
/// No transaction of the store is open while a source is asked.
struct RemoteLookup {
    private let store: Store
    private let limits: LookupLimits
    /// Whether sources are asked even if an answer is kept.
    private let isFresh: Bool
    /// The addresses without their delimiters, which may be those of accounts.
    private let ownForms: @Sendable (EmailAddress) -> [EmailAddress]
    private var left: Duration

    init(
        _ store: Store,
        _ limits: LookupLimits,
        isFresh: Bool,
        ownForms: @escaping @Sendable (EmailAddress) -> [EmailAddress]
    ) {
        self.store = store
        self.ownForms = ownForms
        self.limits = limits
        self.isFresh = isFresh
        left = limits.budget
    }

    /// What `source` has for `addresses`, by what is kept or by asking it.
    ///
    /// Its outages have the addresses that it was not asked about, or not in time.
    ///
    /// - Throws: what reading the store throws: mail waits for the store, and does not go in clear without it.
    mutating func answer(
        of source: any RemoteSource,
        for addresses: [AddressScope]
    ) async throws(KeystoreError) -> SourceAnswer {
        // A source that looks up addresses one by one is not asked about whole domains.
        let addresses = addresses.filter { !$0.isDomain || source.knowsDomains }
        guard !addresses.isEmpty else { return SourceAnswer() }
        let name: String
        do throws(SourceOutage) { name = try Self.name(of: source) } catch {
            return Self.with(error, about: addresses, SourceAnswer())
        }
        let (foreign, kept) = try await look(for: addresses, of: name)
        var answer = SourceAnswer()
        for item in kept { item.add(to: &answer, from: source.kind) }
        let known = Set(kept.map(\.address))
        let unknown = foreign.filter { !known.contains($0) }
        let pauses = pauses(name)
        if !isFresh {
            for address in unknown { answer.outages[address] = pauses.outage(about: address) }
        }
        let paused = answer.outages
        let missing = unknown.filter { paused[$0] == nil }
        guard !missing.isEmpty else { return answer }
        let limit = min(source.timeLimit, left)
        guard limit > .zero else {
            return Self.with(SourceOutage("other sources took the time of the message"), about: missing, answer)
        }
        let start = ContinuousClock.now
        // Answers that arrive until then are kept, so the next attempt gets further.
        let deadline = start + limit * 9 / 10
        let new: SourceAnswer
        do throws(SourceOutage) {
            new = try await source.ask(within: limit) { source throws(SourceOutage) in
                try source.search(for: missing, until: deadline)
            }
        } catch {
            let elapsed = start.duration(to: .now)
            left -= elapsed
            // A source that got less than its own time limit is not paused.
            if limit == source.timeLimit || elapsed < limit * 9 / 10 { pauses.note(error, about: nil) }
            return Self.with(error, about: missing, answer)
        }
        left -= start.duration(to: .now)
        if limit == source.timeLimit {
            for address in new.late { pauses.note(new.outages[address], about: address) }
        }
        await keep(missing.compactMap { answerToKeep(new, about: $0) }, of: name)
        answer.found += new.found
        answer.warnings += new.warnings
        answer.outages.merge(new.outages) { old, _ in old }
        return answer
    }

    /// Which of `addresses` are not of our own accounts, and what is kept of the source `name`.
    private func look(
        for addresses: [AddressScope],
        of name: String
    ) async throws(KeystoreError) -> (foreign: [AddressScope], kept: [KeptAnswer]) {
        let isFresh = isFresh
        let ownForms = ownForms
        return try await store.read { snapshot in
            let database = snapshot.database
            let foreign = try addresses.filter { scope in
                guard let address = scope.address else { return true }
                return try ([address] + ownForms(address)).allSatisfy {
                    try AccountRecord.id(sendingAs: $0, in: database) == nil
                }
            }
            guard !isFresh else { return (foreign, []) }
            do {
                return (foreign, try KeptAnswer.answers(of: name, about: foreign, at: .now, in: database))
            } catch let error as SQLError where error.kind == .forbidden || error.kind == .mismatch {
                // The tables have an older form, or the role's rights are older than this cache.
                return (foreign, [])
            }
        }
    }

    private func pauses(_ name: String) -> SourcePauses { SourcePauses(of: "\(name) \(store.location.path)") }

    private func keep(_ answers: [KeptAnswer], of name: String) async {
        guard !answers.isEmpty else { return }
        await store.writeCache { try KeptAnswer.keep(answers, of: name, at: .now, in: $0) }
    }

    /// What is kept of `answer` about `address`; nil if it is unknown, or not to be kept.
    private func answerToKeep(_ answer: SourceAnswer, about address: AddressScope) -> KeptAnswer? {
        guard answer.outages[address] == nil else { return nil }
        let found = answer.found.filter { $0.address == address }
        let retention = found.isEmpty ? limits.retentionOfNone : limits.retention
        let lifetime = min(retention, answer.lifetimes[address] ?? retention)
        guard lifetime > .zero else { return nil }
        return KeptAnswer(
            address: address,
            time: .now,
            until: .now + lifetime.timeInterval,
            certificates: found.map(\.certificate) + Set(found.flatMap(\.authorities)),
            detail: found.first?.detail ?? ""
        )
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

    /// What answers of `source` are kept under.
    private static func name(of source: any RemoteSource) throws(SourceOutage) -> String {
        do {
            let digest = try DigestAlgorithm.sha256.digest(Array(source.identity.utf8))
            return "\(source.kind.rawValue) \(Fingerprint(bytes: digest)?.hexadecimal ?? "")"
        } catch { throw SourceOutage("\(error)") }
    }
}

extension KeptAnswer {
    /// Adds what was found.
    fileprivate func add(to answer: inout SourceAnswer, from source: KnownRecipient.Source) {
        answer.add(certificates, for: address, from: source, at: detail)
    }
}
