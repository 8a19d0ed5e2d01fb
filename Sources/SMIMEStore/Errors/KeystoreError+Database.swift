import InternetMessage
import PKIX

extension KeystoreError {
    /// Converts an error of the database, or of this package, into the error for the caller.
    init(_ error: any Error, path: String) {
        if let error = error as? KeystoreError {
            self = error
            return
        }
        guard let error = error as? SQLError else {
            self =
                switch error {
                case is CancellationError: .cancelled
                // The store writes only well-formed data.
                case is CMSError, is MIMEError: .corrupt(path: path, detail: String(describing: error))
                default: .unexpected(String(describing: error))
                }
            return
        }
        self =
            switch error.kind {
            case .busy, .conflict: .busy(path: path)
            case .disconnected, .unreachable: .unreachable(path: path, reason: error.message)
            case .corrupt, .mismatch: .corrupt(path: path, detail: error.message)
            case .forbidden:
                .notOnServer(path: path, why: "the role that is connected may not do this: \(error.message)")
            case .cannotOpen, .denied: .cannotOpen(path: path, reason: error.message)
            case .writeFailed: .writeFailed(path: path, reason: error.message)
            case .readOnly: .notWritable(path: path)
            case .other: .unexpected("\(path): \(error.message)")
            }
    }
}
