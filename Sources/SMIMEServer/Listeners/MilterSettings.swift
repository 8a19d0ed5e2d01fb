/// What the connections of a milter's listener share.
struct MilterSettings {
    /// The largest message, in bytes.
    let maximumSize: Int
    /// Where copies go for recipients who get another message than the rest; nil for nowhere.
    let nextHop: NextHop?
}
