import Synchronization

/// The warnings about a mail, in chronological order.
package final class WarningList: Sendable {
    private let texts = Mutex<[String]>([])

    package init() {}

    package var all: [String] { texts.withLock { $0 } }

    package func add(_ text: String) { texts.withLock { $0.append(text) } }
}
