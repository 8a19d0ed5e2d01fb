import Synchronization

/// The addresses about which this process asked a source within the last day.
///
/// If there is no time to ask a source about all addresses of a message, mail to the others waits. This memory makes
/// sure that it does not wait forever: the next attempt asks first about those that were not asked, and an address
/// without a certificate does not have to be asked again for the same message.
struct SourceTurns {
    private struct Place: Hashable {
        let source: String
        let address: AddressScope
    }

    private struct Turn {
        let time: ContinuousClock.Instant
        /// Whether the result does not make mail wait: no certificate, or an outage of the address alone.
        let isSettled: Bool
    }

    private static let all = Mutex<[Place: Turn]>([:])
    /// How long a turn is remembered. The attempts of a mail server are up to some hours apart.
    private static let memory = Duration.seconds(86_400)
    /// The maximum number of turns.
    private static let maximumCount = 10_000

    private let source: String

    /// - Parameter source: a name of the source that is different for each store.
    init(of source: String) { self.source = source }

    /// `addresses` in the order in which to ask: first those that were not asked, in a random order, because another
    /// process with the same message would not get further in the same one; then those that were asked least recently.
    func ordered(_ addresses: [AddressScope]) -> [AddressScope] {
        let items = addresses.shuffled().map { (address: $0, time: turn(of: $0)?.time) }
        let new = items.filter { $0.time == nil }
        let old = items.compactMap { item in item.time.map { (address: item.address, time: $0) } }
        return new.map(\.address) + old.sorted { $0.time < $1.time }.map(\.address)
    }

    /// Adds the outages of `addresses`, about which the source was not asked for lack of time. Mail to them waits,
    /// because otherwise the look-ups of other addresses could make it leave in clear.
    func add(_ addresses: [AddressScope], _ reason: String, to answer: inout SourceAnswer) {
        for address in addresses {
            let isSettled = turn(of: address)?.isSettled ?? false
            answer.outages[address] = SourceOutage(reason, holdsMail: !isSettled)
        }
    }

    /// Notes the turns of those of `addresses` about which the source was asked, with the result `answer`.
    func note(_ addresses: [AddressScope], _ answer: SourceAnswer) {
        let found = Set(answer.found.map(\.address))
        for address in addresses where !answer.unasked.contains(address) {
            let holdsMail = answer.outages[address]?.holdsMail ?? false
            note(address, isSettled: !holdsMail && !found.contains(address))
        }
    }

    private func note(_ address: AddressScope, isSettled: Bool) {
        Self.all.withLock { all in
            if all.count >= Self.maximumCount {
                let times = all.values.map(\.time).sorted()
                let middle = times[times.count / 2]
                all = all.filter { $0.value.time > middle }
            }
            all[Place(source: source, address: address)] = Turn(time: .now, isSettled: isSettled)
        }
    }

    private func turn(of address: AddressScope) -> Turn? {
        let turn = Self.all.withLock { $0[Place(source: source, address: address)] }
        return turn.flatMap { ContinuousClock.now - $0.time < Self.memory ? $0 : nil }
    }
}
