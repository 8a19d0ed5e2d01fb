import Foundation

/// A text broken at its blanks, so that its lines fit a terminal.
///
/// A command in it, which goes up to its end, stays on one line however long: it can be copied whole.
struct WrappedText {
    /// The lines, without indentation; at least one.
    let lines: [String]

    /// - Parameters:
    ///   - width: the columns that a line has.
    ///   - taken: the columns of the first line that are used already.
    init(_ text: String, width: Int, taken: Int = 0) {
        guard width >= Self.leastWidth, text.count > width - taken else {
            lines = [text]
            return
        }
        let (prose, command) = Self.parts(of: text)
        var lines = [String(text.prefix { $0 == " " })]
        for piece in prose.split(separator: " ").map(String.init) + [command].compactMap(\.self) {
            let last = lines[lines.count - 1]
            let room = width - (lines.count == 1 ? taken : 0)
            if last.allSatisfy({ $0 == " " }) {
                lines[lines.count - 1] = last + piece
            } else if last.count + 1 + piece.count <= room {
                lines[lines.count - 1] = "\(last) \(piece)"
            } else {
                lines.append(piece)
            }
        }
        // A prompt ends in a blank, behind which the answer is typed.
        if text.hasSuffix(" ") { lines[lines.count - 1] += " " }
        self.lines = lines
    }

    /// What is to be read, and the command behind it; nil if there is none.
    private static func parts(of text: String) -> (prose: String, command: String?) {
        let starts = programs.compactMap { program in
            text.hasPrefix("\(program) ") ? text.startIndex : text.range(of: " \(program) ")?.lowerBound
        }
        guard let start = starts.min() else { return (text, nil) }
        return (String(text[..<start]), String(text[start...].drop { $0 == " " }))
    }

    /// `text` with the ends of its lines, for a terminal on `descriptor`; on one line elsewhere.
    static func text(_ text: String, on descriptor: Int32, taken: Int = 0) -> String {
        guard let width = Terminal.width(descriptor) else { return text }
        return WrappedText(text, width: width, taken: taken).lines.joined(separator: "\n")
    }

    /// The programs that our hints name.
    private static let programs = ["smime", "git cat-file", "chown", "chmod", "rm", "postconf", "openssl"]
    /// A terminal that is narrower breaks the lines itself.
    private static let leastWidth = 24
}
