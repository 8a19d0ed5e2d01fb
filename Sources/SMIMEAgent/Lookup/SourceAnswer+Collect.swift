import CertificateDiscovery
import SMIMEStore

extension SourceAnswer {
    /// Calls `question` for each of `addresses` until the time limit is exceeded, and records outages. The addresses
    /// after that are `unasked`. So is the address at which the limit was exceeded, if less than half of the time was left
    /// for it and it is not the first.
    ///
    /// - Parameters:
    ///   - isOneServer: whether all addresses are looked up at one server.
    ///   - deadline: when `question` throws `.timeLimit` or `.readingTooLong`.
    /// - Throws: `SourceOutage` if there is one server, and it sent nothing about the first address until the time limit.
    mutating func collect(
        _ addresses: [AddressScope],
        isOneServer: Bool,
        until deadline: ContinuousClock.Instant,
        _ question: (AddressScope, inout SourceAnswer) throws(DiscoveryOutage) -> Void
    ) throws(SourceOutage) {
        let start = ContinuousClock.now
        let half = start + (deadline - start) / 2
        var isOver = false
        for address in addresses {
            guard !isOver else {
                add(.noTurn, for: address)
                continue
            }
            let isFirst = address == addresses.first
            let hasEnoughTime = isFirst || ContinuousClock.now <= half
            do throws(DiscoveryOutage) { try question(address, &self) } catch {
                // A server that exceeds the limit only at a later address did answer: its answers may have used up the time.
                if error == .timeLimit, isFirst, isOneServer { throw SourceOutage(error.reason) }
                isOver = error == .timeLimit || error == .readingTooLong
                add(isOver && !hasEnoughTime ? .noTurn : error, for: address)
            }
        }
    }

    /// Records the outage of `address`. An outage that holds mail replaces another one, and is not replaced.
    mutating func add(_ outage: DiscoveryOutage, for address: AddressScope) {
        if outage.isMissedTurn { unasked.insert(address) }
        if outage == .timeLimit || outage == .readingTooLong { late.insert(address) }
        // An address that waits for its turn is not late.
        late.subtract(unasked)
        guard outages[address]?.holdsMail != true else { return }
        outages[address] = SourceOutage(outage.reason, holdsMail: outage.holdsMail)
    }
}
