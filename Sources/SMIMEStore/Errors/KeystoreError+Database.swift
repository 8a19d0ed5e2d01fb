import GRDB
import InternetMessage
import PKIX

extension KeystoreError {
    /// What an error of GRDB or of our own means to the caller.
    init(_ error: any Error, path: String) {
        if let error = error as? KeystoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self =
                switch error {
                case is CancellationError: .cancelled
                // What we stored was well-formed.
                case is CMSError, is MIMEError, is RowDecodingError:
                    .corrupt(path: path, detail: String(describing: error))
                default: .unexpected(String(describing: error))
                }
            return
        }
        let message = error.message ?? String(describing: error.resultCode)
        self =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy(path: path)
            case .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_FORMAT, .SQLITE_NOTADB: .corrupt(path: path, detail: message)
            case .SQLITE_CANTOPEN, .SQLITE_NOMEM, .SQLITE_PERM, .SQLITE_AUTH: .cannotOpen(path: path, reason: message)
            case .SQLITE_FULL, .SQLITE_IOERR: .writeFailed(path: path, reason: message)
            case .SQLITE_READONLY: .notWritable(path: path)
            default: .unexpected("\(path): \(message)")
            }
    }
}
