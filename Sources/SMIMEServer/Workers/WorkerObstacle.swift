package import SMIMEStore

/// What stands in the way of a worker that has opened the store.
package struct WorkerObstacle: Equatable, Sendable {
    /// One sentence in lower case and without a full stop.
    package let reason: String
    /// Whether only private keys cannot be used: messages that need none are handled.
    package let isOfKeys: Bool

    package init(_ reason: String, isOfKeys: Bool) {
        self.reason = reason
        self.isOfKeys = isOfKeys
    }

    /// No worker answers.
    package static let silence = Self("the store does not answer", isOfKeys: false)

    package init(_ obstacle: Store.Obstacle) {
        switch obstacle {
        case .database(let error): self.init("\(error)", isOfKeys: false)
        case .key(let error): self.init("\(error)", isOfKeys: true)
        }
    }
}
