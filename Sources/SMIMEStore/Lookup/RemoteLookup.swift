import Foundation
import LibCrypto
import PKIX

/// Asks remote sources for one message: not about accounts of ours, not longer than allowed, and not again what is kept.
///
/// No transaction of the store is open while a source is asked.
struct RemoteLookup {
    private let store: Store
    private let limits: LookupLimits
    /// Whether sources are asked even if an answer is kept.
    private let isFresh: Bool
    private var left: Duration

    init(_ store: Store, _ limits: LookupLimits, isFresh: Bool) {
        self.store = store
        self.limits = limits
        self.isFresh = isFresh
        left = limits.budget
    }

    /// What `source` has for `addresses`, by what is kept or by asking it.
    ///
    /// - Throws: `SourceOutage` if it cannot be asked, or there is no time left.
    mutating func answer(
        of source: any RemoteSource,
        for addresses: [AddressScope]
    ) async throws(SourceOutage) -> SourceAnswer {
        let name = try Self.name(of: source)
        let (foreign, kept) = try await look(for: addresses, of: name)
        var answer = SourceAnswer()
        for item in kept { item.add(to: &answer, from: source.kind) }
        let known = Set(kept.compactMap(\.address))
        let missing = foreign.filter { !known.contains($0) }
        guard !missing.isEmpty else { return answer }
        if let outage = kept.first(where: { $0.address == nil })?.outage {
            return Self.with(SourceOutage(outage), about: missing, answer)
        }
        let limit = min(source.timeLimit, left)
        guard limit > .zero else {
            return Self.with(SourceOutage("other sources took the time of the message"), about: missing, answer)
        }
        let start = ContinuousClock.now
        // What the source found until then is kept: the next attempt gets further.
        let deadline = start + limit * 9 / 10
        let new: SourceAnswer
        do throws(SourceOutage) {
            new = try await source.ask(within: limit) { source throws(SourceOutage) in
                try source.search(for: missing, until: deadline)
            }
        } catch {
            left -= start.duration(to: .now)
            // A source that had less than its own time is not to blame.
            if limit == source.timeLimit { await keep([KeptAnswer(error)], of: name) }
            return Self.with(error, about: missing, answer)
        }
        left -= start.duration(to: .now)
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
    ) async throws(SourceOutage) -> (foreign: [AddressScope], kept: [KeptAnswer]) {
        let isFresh = isFresh
        do throws(KeystoreError) {
            return try await store.read { snapshot in
                let database = snapshot.database
                let foreign = try addresses.filter { scope in
                    guard let address = scope.address else { return true }
                    return try AccountRecord.id(sendingAs: address, in: database) == nil
                }
                let kept =
                    isFresh ? [] : (try? KeptAnswer.answers(of: name, about: foreign, at: .now, in: database)) ?? []
                return (foreign, kept)
            }
        } catch { throw SourceOutage("the store cannot be read: \(error)") }
    }

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
            detail: found.first?.detail ?? "",
            outage: nil
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
    /// That a source could not be asked just now.
    fileprivate init(_ outage: SourceOutage) {
        self.init(
            address: nil,
            time: .now,
            until: .now + LookupLimits.pauseAfterOutage.timeInterval,
            certificates: [],
            detail: "",
            outage: outage.reason
        )
    }

    /// Adds what was found.
    fileprivate func add(to answer: inout SourceAnswer, from source: KnownRecipient.Source) {
        guard let address else { return }
        answer.add(certificates, for: address, from: source, at: detail)
    }
}
