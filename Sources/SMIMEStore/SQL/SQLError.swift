/// An error of a database, the same for every engine.
struct SQLError: Error {
    enum Kind: Sendable {
        /// Other connections use the database.
        case busy
        /// The transaction conflicted with a concurrent one. It was rolled back and may be run again.
        case conflict
        /// The connection was lost before the commit: the transaction was rolled back.
        case disconnected
        /// The server cannot be reached, or the connection was lost during a commit.
        case unreachable
        /// The database is damaged, or a value has an unexpected type.
        case corrupt
        /// The statement does not match the existing tables.
        case mismatch
        /// The database cannot be opened.
        case cannotOpen
        /// Memory is exhausted, or the process lacks a right.
        case denied
        /// The database role lacks a right.
        case forbidden
        /// The disk is full or failing.
        case writeFailed
        /// The database is read-only.
        case readOnly
        case other
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
