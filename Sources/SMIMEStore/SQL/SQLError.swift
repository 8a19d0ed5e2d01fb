/// An error of a database, the same for every engine.
struct SQLError: Error {
    enum Kind: Sendable {
        /// Others use the database.
        case busy
        /// Another transaction did at the same time what does not go with this one, which was undone and may be run again.
        case conflict
        /// The connection was lost before the transaction was to last: it was undone.
        case disconnected
        /// The server cannot be reached, or was lost when a transaction was to last.
        case unreachable
        /// The database is damaged, or a value in it is of another kind than it should be.
        case corrupt
        /// The statement does not fit the tables that are there.
        case mismatch
        /// The database cannot be opened.
        case cannotOpen
        /// Memory or a right of the process is missing.
        case denied
        /// The database role may not do this.
        case forbidden
        /// The disk is full or failing.
        case writeFailed
        /// The database can only be read.
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
