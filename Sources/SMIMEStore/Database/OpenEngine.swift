import Foundation
import Synchronization

/// The engine of a database. It is opened anew when another file has replaced the opened one.
final class OpenEngine: Sendable {
    /// A file, whatever it is called.
    private struct FileIdentity: Equatable {
        let device: dev_t
        let node: ino_t

        /// Nil where nothing lies at `path`.
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

    /// - Parameter reopen: opens the file at `path`; nil for a database that is in no file, or that no other code uses.
    init(_ engine: any SQLEngine, path: String, reopen: (@Sendable () throws -> any SQLEngine)?) {
        (self.path, self.reopen) = (path, reopen)
        state = Mutex(State(engine: engine, file: reopen == nil ? nil : FileIdentity(path)))
    }

    /// The engine that was opened last.
    var engine: any SQLEngine { state.withLock { $0.engine } }

    /// Opens the file that lies at the path now, if that is another one. A user of the earlier engine keeps that engine until it is done.
    ///
    /// - Returns: whether it was another one.
    /// - Throws: `KeystoreError.missing` if no file lies there any more; what opening throws.
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
