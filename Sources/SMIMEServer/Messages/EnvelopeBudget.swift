/// The memory for the envelopes that are being received on all connections together, so that many clients with many
/// recipients cannot exhaust it. Everything here runs on the event loop.
final class EnvelopeBudget {
    /// The size in bytes that every connection may always use: enough for a usual envelope.
    static let assured = 16 << 10

    /// The memory that one connection uses.
    struct Share {
        fileprivate var size = 0

        /// Whether the connection uses more than every connection may use.
        var exceedsAssured: Bool { size > EnvelopeBudget.assured }
    }

    private let maximum: Int
    private var used = 0

    /// - Parameter maximum: the number of bytes for all connections together, beyond what each may always use.
    init(maximum: Int) { self.maximum = maximum }

    /// Whether nothing is left.
    var isExhausted: Bool { used >= maximum }

    /// Changes a connection's share to `size` bytes. When the connection ends, its share must become 0.
    func set(_ share: inout Share, to size: Int) {
        used += max(size - Self.assured, 0) - max(share.size - Self.assured, 0)
        share.size = size
    }
}
