import ByteStreams
import SMIMEStore
import Synchronization

/// The arguments for the workers of the service: its own, and the file with the settings of this host, once it was there.
///
/// A worker that looked for the file itself could start while an editor has removed the file, or while its disk is not
/// mounted, and would send mail without these settings for as long as it lives. If the file is named, mail waits instead.
final class WorkerArguments: Sendable {
    private let words: [String]
    /// The files that the service looks for; empty if it does not use such a file.
    private let candidates: [String]
    private let found: Mutex<String?>

    /// - Parameters:
    ///   - words: the arguments of the service.
    ///   - global: the options in `words`.
    init(_ words: [String], _ global: GlobalOptions) {
        self.words = words
        // If the address of the store cannot be used, the workers report it.
        guard global.hostSettings == nil, let location = try? global.location, location.server != nil else {
            candidates = []
            found = Mutex(nil)
            return
        }
        candidates = HostSettings.standardFiles(keyFolder: location.keyFolder)
        found = Mutex(location.hostSettings.file)
    }

    /// The arguments for a worker that starts now. If the service has not found the file yet, it looks for it again.
    var all: [String] {
        let file = found.withLock { found in
            if found == nil { found = candidates.first(where: FileSource.mayExist) }
            return found
        }
        return (file.map { ["--\(GlobalName.hostSettings.rawValue)=\($0)"] } ?? []) + words
    }
}
