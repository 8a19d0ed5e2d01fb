import CertificateDiscovery
import SMIMEStore

extension SourceAnswer {
    /// The outage of an address whose answer arrived in time, but takes too long to read.
    static let readingTooLong = DiscoveryOutage(
        "its answer about the address takes too long to read",
        holdsMail: true
    )

    /// Calls `question` for each of `addresses` until the time limit is exceeded, and records outages. The addresses
    /// after that are `unasked`, and so is an address that got less than half of the time.
    ///
    /// - Parameters:
    ///   - isOneServer: whether all addresses are looked up at one server.
    ///   - deadline: when `question` throws `.timeLimit`.
    /// - Throws: `SourceOutage` if there is one server, and it exceeded the time limit before it answered about any
    ///   address.
    mutating func collect(
        _ addresses: [AddressScope],
        isOneServer: Bool,
        until deadline: ContinuousClock.Instant,
        _ question: (AddressScope, inout SourceAnswer) throws(DiscoveryOutage) -> Void
    ) throws(SourceOutage) {
        let start = ContinuousClock.now
        let half = start + (deadline - start) / 2
        var isOver = false
        var hasAnswered = false
        for address in addresses {
            guard !isOver else {
                add(.noTurn, for: address)
                continue
            }
            let hasEnoughTime = address == addresses.first || ContinuousClock.now <= half
            do throws(DiscoveryOutage) {
                try question(address, &self)
                hasAnswered = true
            } catch {
                if error == .timeLimit, !hasAnswered, isOneServer { throw SourceOutage(error.reason) }
                isOver = error == .timeLimit || error == Self.readingTooLong
                add(error == .timeLimit && !hasEnoughTime ? .noTurn : error, for: address)
                if error == Self.readingTooLong { late.insert(address) }
            }
        }
    }

    /// Records the outage of `address`. An outage that holds mail replaces another one, and is not replaced.
    mutating func add(_ outage: DiscoveryOutage, for address: AddressScope) {
        if outage == .noTurn { unasked.insert(address) }
        if outage == .timeLimit { late.insert(address) }
        // An address that waits for its turn is not late.
        late.subtract(unasked)
        guard outages[address]?.holdsMail != true else { return }
        outages[address] = SourceOutage(outage.reason, holdsMail: outage.holdsMail)
    }
}
