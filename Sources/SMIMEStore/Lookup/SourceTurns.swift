import Synchronization

/// The addresses about which this process asked a source at earlier attempts to send the same message.
///
/// If there is no time to ask a source about all addresses of a message, mail to the others waits. This memory makes
/// sure that it does not wait forever: the next attempt asks first about those that were not asked, and an address
/// without a certificate does not have to be asked again for the same message. Nor does one with a certificate, because
/// its cached answer is used even if it has expired. The turns at other messages do not count: meanwhile the source may have
/// got a certificate.
struct SourceTurns {
    private struct Place: Hashable {
        let source: String
        let message: [UInt8]
        let address: AddressScope
    }

    private struct Turn {
        let time: ContinuousClock.Instant
        /// Whether the result does not make mail wait: no certificate, or an outage without `holdsMail`.
        let isSettled: Bool
    }

    private static let all = Mutex<[Place: Turn]>([:])
    /// How long a turn is remembered. Mail servers try to send a message for five days.
    private static let memory = Duration.seconds(432_000)
    /// The maximum number of turns.
    private static let maximumCount = 10_000

    private let source: String
    private let message: [UInt8]?
    private let kind: KnownRecipient.Source
    private let expired: [AddressScope: KeptAnswer]

    /// - Parameters:
    ///   - source: a name of the source that is different for each store.
    ///   - message: see `RecipientLookup.message`; if nil, turns are not remembered.
    ///   - expired: the expired answers of the source, which are used if it gives no new answer.
    init(of source: String, _ kind: KnownRecipient.Source, for message: [UInt8]?, expired: [KeptAnswer]) {
        (self.source, self.message, self.kind) = (source, message, kind)
        self.expired = Dictionary(expired.map { ($0.address, $0) }) { first, _ in first }
    }

    /// `addresses` in the order in which to ask: first those without a turn and without an expired answer, in random order,
    /// so that processes with the same message do not all spend their time on the same addresses; then those with an
    /// expired answer to another process; then the others, the oldest turn first.
    func ordered(_ addresses: [AddressScope]) -> [AddressScope] {
        let items = addresses.shuffled().map { (address: $0, time: turn(of: $0)?.time) }
        let new = items.filter { $0.time == nil }.map(\.address)
        let old = items.compactMap { item in item.time.map { (address: item.address, time: $0) } }
        let unknown = new.filter { expired[$0] == nil }
        let answered = new.filter { expired[$0] != nil }
        return unknown + answered + old.sorted { $0.time < $1.time }.map(\.address)
    }

    /// Adds the outages of `addresses`, about which the source was not asked for lack of time.
    ///
    /// Mail to an address waits if no earlier result is settled (`Turn.isSettled`): otherwise the look-ups of other
    /// addresses could make the mail leave in clear.
    func add(_ addresses: [AddressScope], _ reason: String, to answer: inout SourceAnswer) {
        for address in addresses {
            let isSettled = turn(of: address)?.isSettled ?? false
            answer.outages[address] = SourceOutage(reason, holdsMail: !isSettled)
        }
    }

    /// `answer` with the expired answers about the addresses that have an outage and no certificate. Mail does not wait, and
    /// does not leave in clear, if an expired answer has a certificate that is usable now.
    func completed(_ answer: SourceAnswer) -> SourceAnswer {
        var answer = answer
        let found = Set(answer.found.map(\.address))
        for address in answer.outages.keys where !found.contains(address) {
            expired[address]?.add(to: &answer, from: kind)
        }
        return answer
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
        guard let place = place(of: address) else { return }
        Self.all.withLock { all in
            if all.count >= Self.maximumCount {
                let times = all.values.map(\.time).sorted()
                let middle = times[times.count / 2]
                all = all.filter { $0.value.time > middle }
            }
            all[place] = Turn(time: .now, isSettled: isSettled)
        }
    }

    private func turn(of address: AddressScope) -> Turn? {
        guard let place = place(of: address) else { return nil }
        let turn = Self.all.withLock { $0[place] }
        return turn.flatMap { ContinuousClock.now - $0.time < Self.memory ? $0 : nil }
    }

    private func place(of address: AddressScope) -> Place? {
        message.map { Place(source: source, message: $0, address: address) }
    }
}
