/// The settings that all connections of a milter listener share.
struct MilterSettings {
    /// The maximum size of a message in bytes.
    let maximumSize: Int
    /// The server for copies to recipients who get a different form of the message; nil if there is none.
    let nextHop: NextHop?
}
