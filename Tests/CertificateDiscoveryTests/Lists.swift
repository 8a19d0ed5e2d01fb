import Synchronization

/// The content of a server, which can be set after its start.
final class Lists: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    subscript(path: String) -> [UInt8] { bytes.withLock { $0 } }

    func put(_ list: [UInt8]) { bytes.withLock { $0 = list } }
}
