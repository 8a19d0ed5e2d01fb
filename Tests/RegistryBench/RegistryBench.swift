import Foundation
import InternetMessage
import SMIMEStore

/// Measures look-ups by address in a store that `scripts/bench registry` has filled; not part of the product.
///
/// Arguments: the store's home, the number of addresses (`user1@example.com`, `user2@example.com`, …) in it, and the URL of
/// its database if it is on a server. Prints medians and 95th percentiles, in microseconds: of finding the certificates; of
/// choosing one including its chain, as for a message to a recipient about whom nothing is cached; and of the next message to
/// the same recipient.
@main
struct RegistryBench {
    private static let rounds = 2_000

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard 2...3 ~= arguments.count, let home = arguments.first,
            let count = arguments.dropFirst().first.flatMap({ Int($0) })
        else {
            print("usage: RegistryBench HOME COUNT [URL]")
            exit(64)
        }
        var location = StoreLocation(home: home)
        if let url = arguments.dropFirst(2).first { location = location.on(try PostgreSQLAddress(url)) }
        let store = try await Store.open(location, mode: .readOnly)
        let addresses = try (0..<rounds).map { _ in try AddressScope("user\(Int.random(in: 1...count))@example.com") }
        let found = try await measure(addresses) { address in
            let known = try await store.recipients.certificates(for: address)
            guard known.count == 1 else { throw CocoaError(.featureUnsupported) }
        }
        @Sendable func choose(_ address: AddressScope) async throws {
            let lookup = RecipientLookup(store: store.forOneMessage(), systemAnchors: false)
            _ = try await lookup.choices(for: [address], at: .now)
        }
        let chosen = try await measure(addresses.prefix(rounds / 4), choose)
        let again = try await measure(addresses.prefix(rounds / 4).suffix(50), choose)
        print(
            [found, chosen, again].flatMap { [$0.median, $0.high] }.map {
                $0.formatted(.number.precision(.fractionLength(0)).grouping(.never))
            }.joined(separator: " ")
        )
    }

    /// The time of `work` in microseconds, after warming up.
    private static func measure(
        _ addresses: some Collection<AddressScope>,
        _ work: @Sendable (AddressScope) async throws -> Void
    ) async throws -> (median: Double, high: Double) {
        for address in addresses.prefix(50) { try await work(address) }
        var times: [Double] = []
        for address in addresses {
            let start = ContinuousClock.now
            try await work(address)
            let time = ContinuousClock.now - start
            times.append(Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6)
        }
        times.sort()
        return (times[times.count / 2], times[times.count * 95 / 100])
    }
}
