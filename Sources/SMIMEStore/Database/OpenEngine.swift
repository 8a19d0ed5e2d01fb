import Foundation
import Synchronization

/// The engine of an open database. It is reopened if another file has replaced the one that was opened.
final class OpenEngine: Sendable {
    /// Identifies a file independently of its name.
    private struct FileIdentity: Equatable {
        let device: dev_t
        let node: ino_t

        /// Nil if there is no file at `path`.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, node) = (status.st_dev, status.st_ino)
        }
    }

    private struct State {
        var engine: any SQLEngine
        var file: FileIdentity?
    }

    private let path: String
    private let reopen: (@Sendable () throws -> any SQLEngine)?
    private let state: Mutex<State>

    /// - Parameter reopen: opens the file at `path`; nil if the database is not a file, or is used by this process only.
    init(_ engine: any SQLEngine, path: String, reopen: (@Sendable () throws -> any SQLEngine)?) {
        (self.path, self.reopen) = (path, reopen)
        state = Mutex(State(engine: engine, file: reopen == nil ? nil : FileIdentity(path)))
    }

    /// The engine that was opened last.
    var engine: any SQLEngine { state.withLock { $0.engine } }

    /// Reopens the database if the file at the path has been replaced. Callers that still use the earlier engine keep it
    /// until they are done.
    ///
    /// - Returns: whether the database was reopened.
    /// - Throws: `KeystoreError.missing` if there is no file at the path any more; what opening throws.
    func renew() throws -> Bool {
        guard let reopen else { return false }
        let found = FileIdentity(path)
        return try state.withLock { state in
            guard let known = state.file, known != found else { return false }
            guard let found else { throw KeystoreError.missing(path: path) }
            state = State(engine: try reopen(), file: found)
            return true
        }
    }
}
