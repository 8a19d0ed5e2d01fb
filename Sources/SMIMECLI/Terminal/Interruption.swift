import Foundation
import Synchronization

/// Turns Ctrl-C and SIGTERM into a question that long work asks between two steps.
///
/// The second signal ends the process as it always did.
struct Interruption {
    private static let isSet = Atomic(false)

    /// Whether to stop.
    var isPending: Bool { Self.isSet.load(ordering: .relaxed) }

    init() {
        // Made here, before a handler needs it. There is no moment at which a signal would be lost.
        Self.isSet.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.isSet.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}
