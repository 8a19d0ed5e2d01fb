/// Checks that encoded words in a From field are complete.
///
/// If `=?` begins no complete word, Thunderbird looks for the next word and skips as much text as that word is long. It may
/// then find an address inside a quoted string.
///
/// RFC 2047 §2
struct EncodedWordCheck {
    private enum Place {
        case bare, quoted
        case comment(depth: Int)

        /// Characters that end this place or escape the next character. An encoded word must not contain them.
        var limits: String {
            switch self {
            case .bare: "\"()<>\\"
            case .quoted: "\"\\"
            case .comment: "()\\"
            }
        }
    }

    private var rest: ArraySlice<Unicode.Scalar>
    private var place = Place.bare

    /// Whether each `=?` in `scalars` begins a complete encoded word. A word inside a quoted string or comment must end
    /// inside of it, and a word outside must end before the next quoted string, comment or angle bracket.
    static func accepts(_ scalars: [Unicode.Scalar]) -> Bool {
        var check = Self(rest: scalars[...])
        while let scalar = check.rest.popFirst() {
            if scalar == "=", check.rest.first == "?" {
                guard check.takeWord() else { return false }
            } else {
                check.move(scalar)
            }
        }
        return true
    }

    private init(rest: ArraySlice<Unicode.Scalar>) { self.rest = rest }

    /// Reads the rest of an encoded word, whose `=` was read.
    private mutating func takeWord() -> Bool {
        rest.removeFirst()
        guard takePiece() != nil, let encoding = takePiece(), encoding.count == 1,
            encoding.allSatisfy("bBqQ".unicodeScalars.contains), takePiece() != nil, rest.first == "="
        else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads up to the next question mark; nil if there is none in this place.
    private mutating func takePiece() -> ArraySlice<Unicode.Scalar>? {
        let limits = place.limits.unicodeScalars
        let piece = rest.prefix { $0 != "?" && !limits.contains($0) }
        rest = rest[piece.endIndex...]
        return rest.popFirst() == "?" ? piece : nil
    }

    private mutating func move(_ scalar: Unicode.Scalar) {
        switch (place, scalar) {
        case (.quoted, "\\"), (.comment, "\\"): rest = rest.dropFirst()
        case (.bare, "\""): place = .quoted
        case (.quoted, "\""): place = .bare
        case (.bare, "("): place = .comment(depth: 1)
        case (.comment(let depth), "("): place = .comment(depth: depth + 1)
        case (.comment(let depth), ")"): place = depth == 1 ? .bare : .comment(depth: depth - 1)
        default: break
        }
    }
}

extension Sequence<Unicode.Scalar> {
    /// The scalars outside of comments in parentheses, which may be nested. A closing parenthesis without an opening one stays.
    ///
    /// RFC 5322 §3.2.2
    package var withoutComments: [Unicode.Scalar] {
        var depth = 0
        return filter { scalar in
            if scalar == "(" { depth += 1 }
            if scalar == ")", depth > 0 {
                depth -= 1
                return false
            }
            return depth == 0
        }
    }
}
