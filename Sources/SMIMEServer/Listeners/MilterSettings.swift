/// The settings that all connections of a milter listener share.
struct MilterSettings {
    /// The maximum size of a message in bytes.
    let maximumSize: Int
    /// The server that gets all copies of a message but the one that replaces it; nil if there is none.
    let nextHop: NextHop?
}
