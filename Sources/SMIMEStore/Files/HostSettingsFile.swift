import ByteStreams
import Synchronization

/// The place of the file with the settings of this host: a named file, or the first of several that is there.
///
/// Once the file was there, it must stay there: an editor may have removed it for a moment, or its disk may not be mounted.
package final class HostSettingsFile: Sendable, Equatable {
    private let candidates: [String]
    private let presence: @Sendable (String) -> FileSource.Presence
    private let found: Mutex<String?>

    /// A named file, which must exist.
    init(named path: String) {
        candidates = [path]
        presence = { _ in .there }
        found = Mutex(path)
    }

    /// The first of `candidates` that is there.
    init(searching candidates: [String], _ presence: @escaping @Sendable (String) -> FileSource.Presence) {
        (self.candidates, self.presence) = (candidates, presence)
        found = Mutex(nil)
    }

    /// The path of the file to read now; nil if there is none. Reading it fails if it is not known whether the file is there,
    /// for example because its folder cannot be searched.
    package var current: String? { look().path }

    /// The path of the file if it is there, was there before, or is named; otherwise nil.
    package var known: String? {
        let (path, isCertain) = look()
        return isCertain ? path : nil
    }

    private func look() -> (path: String?, isCertain: Bool) {
        found.withLock { found in
            if let found { return (found, true) }
            for path in candidates {
                switch presence(path) {
                case .there:
                    found = path
                    return (path, true)
                case .unknown: return (path, false)
                case .absent: continue
                }
            }
            return (nil, true)
        }
    }

    package static func == (one: HostSettingsFile, other: HostSettingsFile) -> Bool {
        one.candidates == other.candidates
    }
}
