/// Operations on paths as text.
enum FilePath {
    /// The folder of `path`; `.` if the path has no folder part.
    ///
    /// Foundation's `deletingLastPathComponent` crashes for a path of one character (swift-foundation of Swift 6.3).
    static func folder(of path: String) -> String {
        let slash = UInt8(ascii: "/")
        var above = Array(path.utf8)
        while above.last == slash { above.removeLast() }
        while let last = above.last, last != slash { above.removeLast() }
        while above.last == slash { above.removeLast() }
        guard above.isEmpty else { return String(decoding: above, as: UTF8.self) }
        return path.utf8.first == slash ? "/" : "."
    }
}
