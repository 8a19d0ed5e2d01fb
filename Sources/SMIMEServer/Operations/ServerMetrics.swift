import LibCrypto
import SMIMEGateway

/// The counters of the service, and their text for Prometheus.
///
/// Prometheus text format 0.0.4
package struct ServerMetrics {
    /// The outcome of a message, by the class of its reply. A message that was accepted after the mail server was told to try
    /// again counts as accepted.
    package enum Result: String, CaseIterable {
        /// 2xx: all recipients have the message.
        case accepted
        /// 4xx: the mail server will try again.
        case deferred
        /// 5xx: the mail server returns the message to its sender.
        case refused
    }

    /// The upper bounds of the histograms' buckets, in seconds.
    private static let bounds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]

    private struct Histogram {
        /// The numbers of messages in the buckets. There is one bucket more than bounds, for all longer times.
        var counts = [UInt64](repeating: 0, count: ServerMetrics.bounds.count + 1)
        var sum = 0.0

        mutating func add(_ seconds: Double) {
            let place = ServerMetrics.bounds.firstIndex { seconds <= $0 } ?? ServerMetrics.bounds.count
            counts[place] += 1
            sum += seconds
        }
    }

    private var messages: [GatewayRole: [Result: UInt64]] = [:]
    private var durations: [GatewayRole: Histogram] = [:]
    private var handling: [GatewayRole: Histogram] = [:]
    /// The number of times that the store could not be used, or the journal could not be written, for a message.
    var storeErrors: UInt64 = 0
    /// The number of times that a worker crashed while handling a message, was ended because it computed too long for
    /// the message, or was the second worker that was ended while handling it. A message may cause two.
    var workerDeaths: UInt64 = 0
    /// The number of connections that ended because of a protocol violation.
    var violations: UInt64 = 0
    /// The number of connections that were refused because the address is not allowed.
    var refusedConnections: UInt64 = 0
    /// The number of messages that the next hop accepted, although the mail server did not receive the positive reply.
    /// Messages without a name in the journal may then be delivered twice.
    var unconfirmed: UInt64 = 0
    /// The number of messages that may be delivered twice, because the connection to the next hop ended before its reply.
    var unknown: UInt64 = 0
    /// Whether all mail can be handled: the answer of /readyz.
    var isReady = false
    /// The number of open connections of mail servers.
    var connections = 0
    /// The number of messages being received or handled.
    var messagesInFlight = 0
    /// The number of worker processes.
    var workers = 0
    /// The number of the accounts' certificates that expire within 30 days and have no successor; nil if it is not
    /// known yet.
    var expiringCertificates: Int?
    /// The hits and misses of the workers' caches.
    var cache: (hits: UInt64, misses: UInt64) = (0, 0)

    /// The time that libcrypto used in the workers.
    var cryptoTime = CryptoTime()

    /// Counts a message.
    ///
    /// - Parameters:
    ///   - seconds: the time from the end of its content to the end of handling.
    ///   - handled: the part of that time for which a worker had the message.
    mutating func count(_ role: GatewayRole, _ result: Result, seconds: Double, handled: Double) {
        messages[role, default: [:]][result, default: 0] += 1
        durations[role, default: Histogram()].add(seconds)
        handling[role, default: Histogram()].add(handled)
    }

    /// Counts a message that was answered before all of its content arrived, and that therefore has no times.
    mutating func countEarlyReply(_ role: GatewayRole, _ result: Result) {
        messages[role, default: [:]][result, default: 0] += 1
    }

    /// The number of messages with this `result`.
    func count(of result: Result) -> UInt64 { messages.values.reduce(0) { $0 + ($1[result] ?? 0) } }

    /// The text for Prometheus.
    package var text: String {
        var text = PrometheusText()
        text.begin("smime_messages_total", .counter, help: "Messages by role and result.")
        for role in GatewayRole.allCases {
            for result in Result.allCases {
                text.add(
                    Double(messages[role]?[result] ?? 0),
                    [("role", role.rawValue), ("result", result.rawValue)]
                )
            }
        }
        add(
            durations,
            name: "smime_message_seconds",
            help: "Seconds from the end of a message to the reply.",
            to: &text
        )
        add(
            handling,
            name: "smime_handling_seconds",
            help: "Seconds a worker took to sign, encrypt, decrypt or verify.",
            to: &text
        )
        addCryptoTime(&text)
        let counters: [(String, UInt64, String)] = [
            (
                "smime_store_errors_total", storeErrors,
                "Times that the store could not be read or written for a message."
            ),
            (
                "smime_worker_deaths_total", workerDeaths,
                "Times that a worker crashed, or was ended because it computed too long, while handling a message."
            ),
            ("smime_protocol_violations_total", violations, "Connections closed because of a protocol violation."),
            ("smime_refused_connections_total", refusedConnections, "Connections refused because of their address."),
            (
                "smime_unconfirmed_total", unconfirmed,
                "Messages that the next hop accepted, but whose acceptance could not be reported to the mail server."
            ),
            ("smime_unknown_total", unknown, "Messages that the next hop may have accepted without sending its reply."),
            ("smime_cache_hits_total", cache.hits, "Look-ups that the workers' caches answered."),
            ("smime_cache_misses_total", cache.misses, "Look-ups that went to the store."),
        ]
        for (name, value, help) in counters { text.add(name, .counter, help: help, value: Double(value)) }
        text.add(
            "smime_ready",
            .gauge,
            help: "1 if all mail can be handled, otherwise 0; /readyz has the reason.",
            value: isReady ? 1 : 0
        )
        text.add("smime_connections", .gauge, help: "Open connections of mail servers.", value: Double(connections))
        text.add(
            "smime_messages_in_flight",
            .gauge,
            help: "Messages being received or handled.",
            value: Double(messagesInFlight)
        )
        text.add("smime_workers", .gauge, help: "Worker processes.", value: Double(workers))
        if let expiringCertificates {
            text.add(
                "smime_certificates_expiring",
                .gauge,
                help: "Accounts' current certificates that expire within 30 days and have no successor.",
                value: Double(expiringCertificates)
            )
        }
        return text.text
    }

    /// Adds times in whole milliseconds, so that a reader of the metrics cannot measure a single operation with a private
    /// key.
    private func addCryptoTime(_ text: inout PrometheusText) {
        text.begin("smime_crypto_seconds_total", .counter, help: "Seconds spent in libcrypto, by operation.")
        for operation in CryptoTime.Operation.allCases {
            text.add(Double(cryptoTime[operation] / 1_000_000) / 1000, [("operation", operation.rawValue)])
        }
    }

    private func add(
        _ histograms: [GatewayRole: Histogram],
        name: String,
        help: String,
        to text: inout PrometheusText
    ) {
        text.begin(name, .histogram, help: help)
        for role in GatewayRole.allCases {
            let histogram = histograms[role] ?? Histogram()
            var total: UInt64 = 0
            for (place, count) in histogram.counts.enumerated() {
                total += count
                let bound = place < Self.bounds.count ? "\(Self.bounds[place])" : "+Inf"
                text.add(Double(total), [("role", role.rawValue), ("le", bound)], suffix: "_bucket")
            }
            text.add(histogram.sum, [("role", role.rawValue)], suffix: "_sum")
            text.add(Double(total), [("role", role.rawValue)], suffix: "_count")
        }
    }
}
