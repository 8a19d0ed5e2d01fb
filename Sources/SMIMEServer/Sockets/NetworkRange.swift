import Foundation

/// A range of IP addresses, such as `192.0.2.0/24` or `2001:db8::/32`.
package struct NetworkRange: Hashable, Sendable {
    private let bytes: [UInt8]
    private let prefix: Int

    /// Parses an address with an optional prefix length; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = Self.bytes(of: String(first)) else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            prefix = bytes.count * 8
            return
        }
        guard let prefix = Int(parts[1]), 0...bytes.count * 8 ~= prefix else { return nil }
        self.prefix = prefix
    }

    /// Whether the address `host` is in the range. An IPv4 address in the form of an IPv6 address (RFC 4291 §2.5.5.2) counts
    /// as the IPv4 address.
    package func contains(_ host: String) -> Bool {
        guard let other = Self.bytes(of: host), other.count == bytes.count else { return false }
        let whole = prefix / 8
        guard bytes.prefix(whole) == other.prefix(whole) else { return false }
        let rest = prefix % 8
        return rest == 0 || (bytes[whole] ^ other[whole]) >> (8 - rest) == 0
    }

    /// Whether a client with the address `address` may connect: a client of this machine, or of a network in `allowed`. The
    /// address is nil for a unix socket.
    static func isAllowed(_ address: String?, by allowed: [NetworkRange]) -> Bool {
        guard let address else { return true }
        return isLoopback(address) || allowed.contains { $0.contains(address) }
    }

    /// Whether `host` is an address of this machine that other machines cannot reach.
    package static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || loopback.contains { $0.contains(host) }
    }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { NetworkRange($0) }
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private static func bytes(of host: String) -> [UInt8]? {
        // The addresses are compared as bytes, because the C types of addresses are imported from different modules.
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host, &bytes) == 1 { return Array(bytes.prefix(4)) }
        guard inet_pton(AF_INET6, host, &bytes) == 1 else { return nil }
        return bytes.starts(with: mapped) ? Array(bytes.dropFirst(mapped.count)) : bytes
    }
}
