import ByteStreams

/// Parses address lists token by token.
struct AddressParser {
    private var tokens: AddressTokens
    private var mailboxes: [Mailbox] = []
    private var defects: Set<AddressDefect> = []
    private var element = Element()
    private let read: (String) -> EmailAddress?

    /// - Parameter read: reads an address; returns nil for text that is none.
    init(_ text: String, reading read: @escaping (String) -> EmailAddress?) {
        tokens = AddressTokens(text)
        self.read = read
    }

    mutating func run() throws(MIMEError) -> ([Mailbox], Set<AddressDefect>) {
        while let token = tokens.next() {
            switch token {
            case .special(","), .special(";"): try finishElement()
            case .special(":"):
                defects.insert(.group)
                // An address in the group's name means that the comma before the group is missing. The address would be lost.
                if element.angleAddress != nil || element.isMalformed || element.words.contains(.special("@")) {
                    defects.insert(.malformed)
                }
                element = Element()
            case .special("<"): readAngleAddress()
            default: element.append(token, afterBlank: tokens.isAfterBlank)
            }
        }
        try finishElement()
        // An unclosed comment, quoted string or domain literal may hide addresses.
        if tokens.hasOpenEnd { defects.insert(.malformed) }
        if mailboxes.isEmpty { defects.insert(.empty) }
        return (mailboxes, defects)
    }

    /// One element of the list, as far as it was read.
    private struct Element {
        /// The words before an address in angle brackets, or the tokens of an address without brackets.
        var words: [AddressTokens.Token] = []
        /// The words as a display name: quoted strings without their quotes, and one space where the field has blanks.
        var phrase = ""
        var comment: String?
        /// The display name as mail programs may show it, with a comment in parentheses; nil if there is neither.
        var name: String? {
            guard !phrase.isEmpty else { return comment }
            return comment.map { "\(phrase) (\($0))" } ?? phrase
        }
        var angleAddress: String?
        var isMalformed = false
        var isEmpty: Bool { words.isEmpty && angleAddress == nil && !isMalformed }

        mutating func append(_ token: AddressTokens.Token, afterBlank: Bool) {
            if case .comment(let text) = token {
                comment = comment ?? text
            } else if angleAddress != nil {
                isMalformed = true
            } else {
                words.append(token)
                let text = if case .quoted(let content, _) = token { content } else { token.text }
                phrase += (phrase.isEmpty || !afterBlank ? "" : " ") + text
            }
        }
    }

    private mutating func finishElement() throws(MIMEError) {
        defer { element = Element() }
        guard !element.isEmpty else { return }
        let text = element.angleAddress ?? AddressTokens.joined(element.words)
        let name = element.angleAddress == nil ? element.comment : element.name
        guard !element.isMalformed, let text, let address = read(text) else {
            defects.insert(.malformed)
            return
        }
        guard mailboxes.count < MIMELimit.addresses.rawValue else { throw .limitExceeded(.addresses) }
        mailboxes.append(Mailbox(displayName: name.map { EncodedWord.decode($0) }, address: address))
    }

    /// Reads the text between angle brackets, without a preceding route.
    private mutating func readAngleAddress() {
        var words: [AddressTokens.Token] = []
        while let token = tokens.next() {
            switch token {
            case .special(">"):
                if element.angleAddress != nil { element.isMalformed = true }
                element.angleAddress = AddressTokens.joined(words) ?? ""
                return
            case .special(":") where words.first == .special("@"):
                defects.insert(.route)
                words = []
            case .special("<"), .special(";"): element.isMalformed = true
            case .comment: break
            default: words.append(token)
            }
        }
        element.isMalformed = true
    }
}

/// The words, quoted strings, comments and special characters of an address field.
struct AddressTokens {
    enum Token: Equatable {
        case atom(String)
        case comment(String)
        /// A domain literal with its brackets.
        case literal(String)
        case quoted(content: String, raw: String)
        case special(Unicode.Scalar)

        /// The token as written in an address.
        var text: String {
            switch self {
            case .atom(let text), .comment(let text), .literal(let text), .quoted(_, let text): text
            case .special(let scalar): String(scalar)
            }
        }

        fileprivate var isWord: Bool {
            switch self {
            case .atom, .literal, .quoted: true
            case .comment, .special: false
            }
        }
    }

    private var rest: ArraySlice<Unicode.Scalar>
    /// Whether a blank or a comment precedes the last token.
    private(set) var isAfterBlank = false
    private var endedInComment = false
    /// Whether a comment, a quoted string or a domain literal is not closed.
    private(set) var hasOpenEnd = false

    init(_ text: String) { rest = Array(text.unicodeScalars)[...] }

    /// The address that `tokens` form, without blanks around dots and @; nil if two words are adjacent.
    static func joined(_ tokens: [Token]) -> String? {
        var text = ""
        var followsWord = false
        for token in tokens {
            guard !followsWord || !token.isWord else { return nil }
            followsWord = token.isWord
            text += token.text
        }
        return text
    }

    mutating func next() -> Token? {
        isAfterBlank = endedInComment
        endedInComment = false
        while let blank = rest.first, Self.isBlank(blank) {
            rest.removeFirst()
            isAfterBlank = true
        }
        guard let first = rest.first else { return nil }
        switch first {
        case "\"": return quoted()
        case "(":
            endedInComment = true
            return comment()
        case "[": return literal()
        case _ where Self.isSpecial(first):
            rest.removeFirst()
            return .special(first)
        default:
            var atom = String.UnicodeScalarView()
            while let scalar = rest.first, !Self.isSpecial(scalar), !Self.isBlank(scalar) {
                atom.append(scalar)
                rest.removeFirst()
            }
            return .atom(String(atom))
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\r" || scalar == "\n"
    }

    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "(", ")", "<", ">", "[", "]", ":", ";", "@", ",", ".": true
        default: false
        }
    }

    private mutating func quoted() -> Token {
        var (content, raw) = (String.UnicodeScalarView(), "\"".unicodeScalars)
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            raw.append(scalar)
            if scalar == "\"" { return .quoted(content: String(content), raw: String(raw)) }
            if scalar == "\\", let escaped = rest.popFirst() {
                raw.append(escaped)
                content.append(escaped)
            } else {
                content.append(scalar)
            }
        }
        hasOpenEnd = true
        return .quoted(content: String(content), raw: String(raw))
    }

    private mutating func comment() -> Token {
        var depth = 0
        var content = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "(" {
                depth += 1
                if depth == 1 { continue }
            } else if scalar == ")" {
                depth -= 1
                if depth == 0 { return .comment(String(content)) }
            } else if scalar == "\\", let escaped = rest.popFirst() {
                content.append(escaped)
                continue
            }
            content.append(scalar)
        }
        hasOpenEnd = true
        return .comment(String(content))
    }

    private mutating func literal() -> Token {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            text.append(scalar)
            if scalar == "]" { return .literal(String(text)) }
        }
        hasOpenEnd = true
        return .literal(String(text))
    }
}
