import PKIX

/// A database file that is read without locks, because this process cannot create files beside it, and its state when it was
/// opened.
///
/// SQLite does not notice changes of such a file, but other processes may be able to change it: the folder may be mounted
/// read-only for this process only.
struct FrozenFile: Sendable {
    private let path: String
    private let opened: FileState?

    /// Records the state of the file at `path`, which has no log beside it.
    init(_ path: String) { (self.path, opened) = (path, FileState(path)) }

    /// Whether the file was changed or replaced after it was opened, or a writer has filled a log beside it.
    var isChanged: Bool { SQLiteEngine.hasLog(path) || FileState(path) != opened }
}
