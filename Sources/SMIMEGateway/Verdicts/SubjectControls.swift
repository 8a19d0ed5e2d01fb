import Foundation
import InternetMessage

/// Characters that change how a subject is shown: text direction, and control sequences of terminals.
///
/// UAX #9 §2, ECMA-48 §5.4, ECMA-35 §13
enum SubjectControls {
    /// `subject` without such characters. Undeclared ISO-2022-JP, which was used before encoded words, is decoded.
    static func removed(from subject: String) -> String {
        let japanese = subject.contains("\u{1B}") ? decodedJapanese(subject) : nil
        let scalars = Array((japanese ?? subject).unicodeScalars)
        guard scalars.contains(where: { isControl($0) || SubjectSkeleton.isBidiControl($0) }) else {
            return japanese ?? subject
        }
        var output = String.UnicodeScalarView()
        var position = 0
        while position < scalars.count {
            if let end = sequenceEnd(at: position, in: scalars) {
                position = end
                continue
            }
            let scalar = scalars[position]
            if isControl(scalar), scalar.properties.isWhitespace {
                output.append(" ")
            } else if !isControl(scalar), !SubjectSkeleton.isBidiControl(scalar) {
                output.append(scalar)
            }
            position += 1
        }
        return String(output)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\t"
        case .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The end of the control sequence that begins at `start`; nil if there is none. A sequence without parameters is
    /// accepted only if it sets colours: mail programs that do not know control sequences show a letter and a bracket.
    private static func sequenceEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int? {
        var position = start
        switch scalars[start] {
        case "\u{9B}": position += 1
        case "\u{1B}" where start + 1 < scalars.count && scalars[start + 1] == "[": position += 2
        default: return nil
        }
        let parameters = scalars[position...].prefix { 0x20...0x3F ~= $0.value }
        guard parameters.endIndex < scalars.count, 0x40...0x7E ~= scalars[parameters.endIndex].value,
            !parameters.isEmpty || scalars[parameters.endIndex] == "m"
        else { return nil }
        return parameters.endIndex + 1
    }

    /// `subject` decoded from ISO-2022-JP; nil unless it switches to a Japanese character set and is valid.
    private static func decodedJapanese(_ subject: String) -> String? {
        guard ["\u{1B}$B", "\u{1B}$@"].contains(where: subject.contains), subject.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let word = "=?iso-2022-jp?B?\(Data(subject.utf8).base64EncodedString())?="
        let decoded = EncodedWord.decode(word)
        return decoded == word ? nil : decoded
    }
}
