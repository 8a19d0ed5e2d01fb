/// An error of a database, the same for every engine.
struct SQLError: Error {
    enum Kind: Sendable {
        /// Others use the database.
        case busy
        /// The database is damaged, or a value in it is of another kind than it should be.
        case corrupt
        /// The statement does not fit the tables that are there.
        case mismatch
        /// The database cannot be opened.
        case cannotOpen
        /// Memory or a right is missing.
        case denied
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
