import Foundation
import Synchronization

/// Turns Ctrl-C and SIGTERM into a flag that long work checks between two steps.
///
/// The second signal ends the process as it always did.
struct Interruption {
    private static let isSet = Atomic(false)

    /// Whether to stop.
    var isPending: Bool { Self.isSet.load(ordering: .relaxed) }

    init() {
        // Initializes the static variable before a handler uses it, and before a signal could be lost.
        Self.isSet.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.isSet.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}
