import CUnbound
import Foundation

/// Looks up SMIMEA records and accepts only records that DNSSEC authenticates.
package struct SecureResolver: Sendable {
    /// The result of looking up one name.
    package enum Answer: Equatable, Sendable {
        /// The records, and how long they may be cached.
        case records([[UInt8]], lifetime: Duration)
        /// There are no records. Whether the zone is signed makes no difference. `lifetime` says how long this answer may be
        /// cached.
        case none(lifetime: Duration)
        /// There are records, but their zone is not signed.
        case unsigned
        /// The lookup failed.
        case outage(DiscoveryOutage)

        /// Whether the lookup failed.
        var isOutage: Bool { if case .outage = self { true } else { false } }
    }

    /// The DNS type of SMIMEA records.
    private static let type: CInt = 53
    private static let internet: CInt = 1
    fileprivate static let noError: CInt = 0
    fileprivate static let noSuchName: CInt = 3
    /// The maximum number of records for a name; further records are ignored. A DNS message has no room for so many
    /// certificates.
    fileprivate static let maximumRecords = 200
    /// Where Debian stores the keys of the root zone: in the package `dns-root-data`, and in the state folder of `unbound`.
    private static let rootKeys = ["/usr/share/dns/root.key", "/var/lib/unbound/root.key"]

    /// The address of the resolver, optionally with an at sign and a port; nil for the resolvers in /etc/resolv.conf.
    package let resolver: String?
    /// A file with the trust anchors for signatures; nil for the keys of the root zone.
    package let anchors: String?

    package init(resolver: String?, anchors: String?) {
        self.resolver = resolver
        self.anchors = anchors
    }

    /// Whether `text` is an IP address, optionally with an at sign and a port.
    package static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count == 1 || UInt16(parts[1]).map({ $0 > 0 }) ?? false else {
            return false
        }
        var bytes = in6_addr()
        return inet_pton(AF_INET, String(host), &bytes) == 1 || inet_pton(AF_INET6, String(host), &bytes) == 1
    }

    /// The answers about `names`, in the same order. A name without an answer at `deadline` gets an outage.
    ///
    /// libunbound: `ub_resolve_async`
    ///
    /// - Throws: `DiscoveryOutage` if libunbound or the trust anchors are missing, or a query cannot be sent.
    package func answers(
        about names: [String],
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> [Answer] {
        let context = try UnboundContext(resolver: resolver, anchorFile: anchorFile)
        return try context.answers(about: names, type: Self.type, class: Self.internet, until: deadline)
    }

    /// The path of the trust anchor file.
    ///
    /// - Throws: `DiscoveryOutage` if there is no readable file.
    package func anchorFile() throws(DiscoveryOutage) -> String {
        let files = anchors.map { [$0] } ?? Self.rootKeys
        // Without an anchor libunbound would take every zone for one without DNSSEC.
        guard let file = files.first(where: Self.holdsAnchor) else {
            throw .fault("the trust anchors for DNSSEC cannot be read (Debian: apt install dns-root-data)")
        }
        return file
    }

    /// Whether the file at `path` contains a DS or DNSKEY record.
    private static func holdsAnchor(_ path: String) -> Bool {
        guard let data = try? FileHandle(forReadingAtPath: path)?.read(upToCount: 1 << 20) else { return false }
        return data.split(separator: UInt8(ascii: "\n")).contains { line in
            let words = line.prefix { $0 != UInt8(ascii: ";") }.split { [9, 13, 32].contains($0) }
            return words.contains { ["DS", "DNSKEY"].contains(String(decoding: $0, as: UTF8.self).uppercased()) }
        }
    }
}

extension SecureResolver.Answer {
    /// The answer of libunbound, with copies of the records.
    init(_ result: ub_result) {
        guard result.bogus == 0 else {
            self = .outage(DiscoveryOutage("the DNS answer fails DNSSEC validation"))
            return
        }
        guard [SecureResolver.noError, SecureResolver.noSuchName].contains(result.rcode) else {
            self = .outage(DiscoveryOutage("DNS gives no answer (RCODE \(result.rcode))"))
            return
        }
        let lifetime = Duration.seconds(max(0, result.ttl))
        self =
            if result.havedata == 0 {
                .none(lifetime: lifetime)
            } else if result.secure == 0 {
                .unsigned
            } else {
                .records(result.records(limit: SecureResolver.maximumRecords), lifetime: lifetime)
            }
    }
}
