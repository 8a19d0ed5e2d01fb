/// What a path says of itself.
enum FilePath {
    /// The folder that `path` lies in; `.` if it names none.
    ///
    /// Foundation's `deletingLastPathComponent` ends the process for a path of one character (swift-foundation of Swift 6.3).
    static func folder(of path: String) -> String {
        let whole = path.utf8.reversed().drop { $0 == UInt8(ascii: "/") }
        let above = whole.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
        guard above.isEmpty else { return String(decoding: above.reversed(), as: UTF8.self) }
        return path.utf8.first == UInt8(ascii: "/") ? "/" : "."
    }
}
