/// A long line of a text format, folded: each continuation line begins with a space.
enum FoldedLine {
    /// `line` in pieces of at most `width` bytes, including the space; no multibyte character is split.
    ///
    /// RFC 2849 note 10, RFC 6350 §3.2
    static func folding(_ line: String, width: Int, lineEnd: String) -> String {
        var text = ""
        var count = 0
        for scalar in line.unicodeScalars {
            let size = String(scalar).utf8.count
            if count + size > width {
                text += "\(lineEnd) "
                count = 1
            }
            text.unicodeScalars.append(scalar)
            count += size
        }
        return text + lineEnd
    }
}
