import GRDB

extension SQLError {
    init(_ error: DatabaseError) {
        let kind: Kind =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
            case .SQLITE_ERROR, .SQLITE_FORMAT: .mismatch
            case .SQLITE_CANTOPEN: .cannotOpen
            case .SQLITE_NOMEM, .SQLITE_PERM, .SQLITE_AUTH: .denied
            case .SQLITE_FULL, .SQLITE_IOERR: .writeFailed
            case .SQLITE_READONLY: .readOnly
            default: .other
            }
        self.init(kind, error.message ?? String(describing: error.resultCode))
    }

    /// Runs `body`; what GRDB throws is thrown as `SQLError`.
    static func translating<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError { throw SQLError(error) }
    }
}
