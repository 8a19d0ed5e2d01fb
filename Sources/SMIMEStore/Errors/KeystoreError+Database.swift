import GRDB
import InternetMessage
import PKIX

extension KeystoreError {
    /// Maps an error of GRDB or of our own.
    init(_ error: any Error, path: String) {
        if let error = error as? KeystoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self =
                switch error {
                case is CancellationError: .cancelled
                // The stored data was well-formed, so it was damaged later.
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
