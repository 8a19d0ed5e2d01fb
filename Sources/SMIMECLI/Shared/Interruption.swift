import Foundation
import Synchronization

/// Turns Ctrl-C and SIGTERM into a question that long work asks between two steps.
///
/// The second signal ends the process as it always did.
final class Interruption {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    private let flag = Flag()
    private let sources: [any DispatchSourceSignal]

    /// Whether to stop.
    var isPending: Bool { flag.isSet.load(ordering: .relaxed) }

    init() {
        sources = [SIGINT, SIGTERM].map { [flag] number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                flag.isSet.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
            source.resume()
            return source
        }
    }

    deinit { sources.forEach { $0.cancel() } }
}
