import Foundation
import Synchronization

/// Records Ctrl-C and SIGTERM in a flag that long work checks between two steps.
///
/// A second signal ends the process as usual.
struct Interruption {
    private static let isSet = Atomic(false)

    /// Whether a signal arrived, so that the work should stop.
    var isPending: Bool { Self.isSet.load(ordering: .relaxed) }

    init() {
        // Initializes the static variable before a signal can arrive.
        Self.isSet.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.isSet.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}
