package import SMIMEStore

/// The reason that a worker with an open store cannot handle messages.
package struct WorkerObstacle: Equatable, Sendable {
    /// One sentence, in lower case and without a full stop.
    package let reason: String
    /// Whether only the private keys cannot be used. Messages that need no private key are then still handled.
    package let isOfKeys: Bool

    package init(_ reason: String, isOfKeys: Bool) {
        self.reason = reason
        self.isOfKeys = isOfKeys
    }

    /// The obstacle if no worker answers.
    package static let silence = Self("the store does not answer", isOfKeys: false)

    package init(_ obstacle: Store.Obstacle) {
        switch obstacle {
        case .database(let error): self.init("\(error)", isOfKeys: false)
        case .key(let error): self.init("\(error)", isOfKeys: true)
        }
    }
}
