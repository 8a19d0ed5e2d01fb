import Synchronization

/// What a server has, put there after it was started.
final class Lists: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    subscript(path: String) -> [UInt8] { bytes.withLock { $0 } }

    func put(_ list: [UInt8]) { bytes.withLock { $0 = list } }
}
