import SMIMEStore

/// The arguments for the workers of the service: the service's own, and the file with the settings of this host as soon as
/// the service has found that file.
///
/// A worker that looked for the file itself could start while an editor has removed the file, or while its disk is not
/// mounted, and would send mail without these settings for as long as it lives. If the file is named, mail waits instead.
final class WorkerArguments: Sendable {
    private let words: [String]
    /// The file that the service looks for; nil if the words name it, or if it is not used.
    private let file: HostSettingsFile?

    /// - Parameters:
    ///   - words: the arguments of the service.
    ///   - global: the options in `words`.
    init(_ words: [String], _ global: GlobalOptions) {
        self.words = words
        // If the address of the store cannot be used, the workers report it.
        let location = try? global.location
        file = global.hostSettings == nil && location?.server != nil ? location?.hostSettings.place : nil
    }

    /// The arguments for a worker that starts now. If the service has not found the file yet, it looks for it again.
    var all: [String] {
        (file?.known.map { ["--\(GlobalName.hostSettings.rawValue)=\($0)"] } ?? []) + words
    }
}
