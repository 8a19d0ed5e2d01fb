import Foundation
import InternetMessage

/// A text wrapped at its blanks, so that its lines fit a terminal.
///
/// A command at the end of the text is not wrapped, however long it is, so that the user can copy it as a whole.
struct WrappedText {
    /// The lines, without indentation; at least one.
    let lines: [String]

    /// - Parameters:
    ///   - width: the number of columns of a line.
    ///   - taken: the number of columns of the first line that are already used.
    init(_ text: String, width: Int, taken: Int = 0) {
        guard width >= Self.leastWidth, text.columnCount > width - taken else {
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
            } else if last.columnCount + 1 + piece.columnCount <= room {
                lines[lines.count - 1] = "\(last) \(piece)"
            } else {
                lines.append(piece)
            }
        }
        // A prompt ends with a blank, after which the user types the answer.
        if text.hasSuffix(" ") { lines[lines.count - 1] += " " }
        self.lines = lines
    }

    /// The prose of `text`, and the command after the prose; nil if there is no command.
    private static func parts(of text: String) -> (prose: String, command: String?) {
        let starts = programs.compactMap { program in
            text.hasPrefix("\(program) ") ? text.startIndex : text.range(of: " \(program) ")?.lowerBound
        }
        guard let start = starts.min() else { return (text, nil) }
        return (String(text[..<start]), String(text[start...].drop { $0 == " " }))
    }

    /// `text` wrapped into lines, if `descriptor` is a terminal; otherwise `text` unchanged, on one line.
    static func text(_ text: String, on descriptor: Int32, taken: Int = 0) -> String {
        guard let width = Terminal.width(descriptor) else { return text }
        return WrappedText(text, width: width, taken: taken).lines.joined(separator: "\n")
    }

    /// The programs that hints of smime name.
    private static let programs = ["smime", "git cat-file", "chown", "chmod", "rm", "postconf", "openssl"]
    /// The minimum width: a narrower terminal wraps the lines itself.
    static let leastWidth = 24
}
