import PKIX
import Synchronization

/// Records whether the base64 that was read lacks the padding that RFC 4648 §3.2 requires.
final class PaddingWatch: Sendable {
    private let isMissing = Atomic(false)

    /// Records that padding is missing.
    func note() { isMissing.store(true, ordering: .relaxed) }

    /// A warning if padding is missing; otherwise empty.
    var problems: [Problem] {
        guard isMissing.load(ordering: .relaxed) else { return [] }
        return [Problem(.base64Padding, "the base64 of the CMS object lacks its padding")]
    }
}
