import GRDB
import GRDBSQLite

extension SQLError {
    init(_ error: DatabaseError) {
        self.init(Self.kind(error.resultCode), error.message ?? String(describing: error.resultCode))
    }

    /// - Parameter code: a result code of SQLite.
    init(code: Int32) {
        let result = DatabaseError(resultCode: ResultCode(rawValue: code)).resultCode
        let isResult = [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code)
        self.init(isResult ? .corrupt : Self.kind(result), String(cString: sqlite3_errstr(code)))
    }

    private static func kind(_ code: ResultCode) -> Kind {
        switch code {
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        case .SQLITE_ERROR, .SQLITE_FORMAT: .mismatch
        case .SQLITE_CANTOPEN: .cannotOpen
        case .SQLITE_NOMEM, .SQLITE_PERM, .SQLITE_AUTH: .denied
        case .SQLITE_FULL, .SQLITE_IOERR: .writeFailed
        case .SQLITE_READONLY: .readOnly
        default: .other
        }
    }

    /// Runs `body`, and converts errors of GRDB to `SQLError`.
    static func translating<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError { throw SQLError(error) }
    }
}
