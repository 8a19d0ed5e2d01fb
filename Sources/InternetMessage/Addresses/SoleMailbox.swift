import ByteStreams

/// Reads a field with one mailbox, in the forms that all programs interpret alike.
///
/// The rules are stricter than RFC 5322 §3.4. Programs differ on groups, routes, lists with empty elements, unquoted special
/// characters, encoded words inside an address, and much of what comments may contain. Such a field is rejected, because an
/// attacker could show one address to the verifying program and another one to the reader.
struct SoleMailbox {
    private var rest: ArraySlice<Unicode.Scalar>
    /// All text beside the address that a mail program may display.
    private var shown = ""

    private init(_ scalars: [Unicode.Scalar]) { rest = scalars[...] }

    /// The mailbox in `field`; nil if there are none or several, or if programs may interpret the field differently.
    static func read(_ field: HeaderField) -> Mailbox? {
        let bytes = Array(field.bodyBytes.trimmingBlanks().filter { $0 != .carriageReturn })
        guard bytes.count <= maximumCount, !endsLinesAtReturns(field.bodyBytes) else { return nil }
        let scalars = Array(String(mail: bytes).unicodeScalars)
        guard scalars.allSatisfy({ isBlank($0) || !($0.value < 32 || lineSeparators.contains($0)) }),
            EncodedWordCheck.accepts(scalars)
        else {
            return nil
        }
        var bare = Self(scalars)
        var angle = bare
        guard let found = bare.bareMailbox() ?? angle.angleMailbox() else { return nil }
        // Programs interpret bytes that are not UTF-8 differently. That matters in an address, but not in a name.
        let isText = String(validating: bytes, as: UTF8.self) != nil || found.address.text.utf8.allSatisfy { $0 < 128 }
        return isText ? found : nil
    }

    /// The maximum length of a field body in bytes.
    private static let maximumCount = 65_536
    /// DEL, and characters that end a line in some programs and are displayed by others.
    private static let lineSeparators: [Unicode.Scalar] = ["\u{7F}", "\u{85}", "\u{2028}", "\u{2029}"]

    /// Whether the scalar is a blank or a line break. The field is not unfolded before it is parsed, because Python ends
    /// comments and quoted strings at line breaks.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" || scalar == "\n" }

    /// Whether there is a carriage return without a line feed, at which some programs end the line.
    private static func endsLinesAtReturns(_ body: ArraySlice<UInt8>) -> Bool {
        body.indices.contains { index in
            body[index] == .carriageReturn && (index + 1 >= body.endIndex || body[index + 1] != .lineFeed)
        }
    }

    // MARK: Grammar

    /// `[CFWS] addr-spec [CFWS]`
    private mutating func bareMailbox() -> Mailbox? {
        // With a comment beside the @, Java's mail library takes the local part alone as the address.
        guard skipBlanks(), let address = addressSpecification(hasComments: false), skipBlanks(), rest.isEmpty else {
            return nil
        }
        return mailbox(address)
    }

    /// `[phrase] "<" addr-spec ">" [CFWS]`; after its first word, the phrase may contain dots.
    private mutating func angleMailbox() -> Mailbox? {
        guard skipBlanks(), skipPhrase(), take("<"), skipBlanks(isInAddress: true) else { return nil }
        guard let address = addressSpecification(hasComments: true) else { return nil }
        // Only comments are allowed here: if the field is folded before the bracket, Python finds a second address.
        while rest.first == "(" {
            guard skipComment(isInAddress: true) else { return nil }
        }
        guard take(">") else { return nil }
        return skipBlanks() && rest.isEmpty ? mailbox(address) : nil
    }

    private func mailbox(_ text: String) -> Mailbox? {
        guard let address = try? EmailAddress(text) else { return nil }
        let name = EncodedWord.decode(shown)
        // Programs may end the field at a line break that an encoded word contains, or refuse the field. Some of them also
        // decode words that are malformed or in a character set that smime does not know.
        let loose = EncodedWord.decodeAssumingASCII(shown)
        guard !(name + loose).unicodeScalars.contains(where: { $0 == "\r" || $0 == "\n" || $0 == "\0" }) else {
            return nil
        }
        return Mailbox(displayName: shown.isEmpty ? nil : name, address: address)
    }

    private mutating func skipPhrase() -> Bool {
        var isFirst = true
        while let next = rest.first, next != "<" {
            if next == "\"" {
                guard let quoted = quotedString() else { return false }
                // Python reads a word before or after a folded string as an address of its own.
                guard !quoted.isFolded || isFirst && shown.isEmpty && rest.first(where: { !Self.isBlank($0) }) == "<"
                else {
                    return false
                }
                shown += quoted.content
            } else if next == ".", !isFirst {
                rest.removeFirst()
                // Python's parser fails if the bracket follows the dot directly. Ruby's mail library ends the address at a
                // dot before a comment.
                guard rest.first != "<", rest.first(where: { !Self.isBlank($0) }) != "(" else { return false }
                shown += "."
            } else {
                let atom = atom()
                guard !atom.isEmpty else { return false }
                shown += atom
            }
            isFirst = false
            guard skipBlanks() else { return false }
        }
        return true
    }

    /// `local-part "@" domain`; blanks are allowed only around the @, and comments if `hasComments` is true.
    private mutating func addressSpecification(hasComments: Bool) -> String? {
        let local: String
        if rest.first == "\"" {
            guard let quoted = quotedString(), !quoted.content.isEmpty,
                !quoted.isFolded,
                quoted.content.unicodeScalars.allSatisfy(Self.isPlain)
            else {
                return nil
            }
            local = quoted.raw
        } else {
            local = dotAtom()
        }
        func skip() -> Bool {
            (hasComments || rest.first { !Self.isBlank($0) } != "(") && skipBlanks(isInAddress: true)
        }
        guard skip(), take("@"), skip() else { return nil }
        let domain = dotAtom()
        // Some programs decode encoded words here, and others use them undecoded as the address.
        guard !local.contains("=?"), !domain.contains("=?") else { return nil }
        return "\(local)@\(domain)"
    }

    // MARK: Words

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func atom() -> String { taking(Self.isAtomText) }

    private mutating func dotAtom() -> String { taking { Self.isAtomText($0) || $0 == "." } }

    private mutating func taking(_ isMeant: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let next = rest.first, isMeant(next) {
            text.append(next)
            rest.removeFirst()
        }
        return String(text)
    }

    /// A quoted string; nil if it is not terminated, or if programs that end it at a line break find an address in it.
    private mutating func quotedString() -> (content: String, raw: String, isFolded: Bool)? {
        var (content, raw) = (String.UnicodeScalarView(), "\"".unicodeScalars)
        var isFolded = false
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            // A line break is not part of the text.
            if scalar != "\n" { raw.append(scalar) }
            if scalar == "\"" { return (String(content), String(raw), isFolded) }
            if scalar == "\n" {
                guard isFolded || mayFold(behind: content) else { return nil }
                isFolded = true
                continue
            }
            guard scalar == "\\" else {
                content.append(scalar)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            raw.append(escaped)
            content.append(escaped)
        }
        return nil
    }

    /// Whether a line break may follow `content` in a quoted string. Python ends the string there, takes a single word as an
    /// address, and reads the rest as if it were not quoted: brackets then begin a domain literal or a comment.
    private func mayFold(behind content: String.UnicodeScalarView) -> Bool {
        let behind = rest.prefix { $0 != "\"" }
        return (content.contains(where: Self.isBlank) || content.last == "," || content.last == ";")
            && content.allSatisfy { ",;:=[]".unicodeScalars.contains($0) || Self.isPlainOrBlank($0) }
            && behind.allSatisfy { $0 == "=" || Self.isPlainOrBlank($0) } && Self.closesComments(behind)
    }

    /// Whether the parentheses in `text` are balanced, except that the last character may close one more.
    private static func closesComments(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        var depth = 0
        for (index, scalar) in zip(text.indices, text) {
            if scalar == "(" { depth += 1 }
            if scalar == ")" { depth -= 1 }
            guard depth >= 0 || index == text.endIndex - 1 else { return false }
        }
        return depth <= 0
    }

    /// Skips blanks and comments; returns false for a comment that programs interpret differently.
    private mutating func skipBlanks(isInAddress: Bool = false) -> Bool {
        while let next = rest.first {
            if Self.isBlank(next) {
                rest.removeFirst()
                if !shown.isEmpty, !isInAddress, next != "\n" { shown += " " }
            } else if next == "(" {
                guard skipComment(isInAddress: isInAddress) else { return false }
            } else {
                return true
            }
        }
        return true
    }

    private mutating func skipComment(isInAddress: Bool) -> Bool {
        var depth = 0
        var content = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "(" where depth == 0: depth = 1
            case "(" where !isInAddress && depth < Self.maximumDepth:
                depth += 1
                content.append(scalar)
            case ")" where depth == 1:
                shown += " \(String(content)) "
                return true
            case ")":
                depth -= 1
                content.append(scalar)
            case "\\" where !isInAddress:
                guard let escaped = rest.popFirst(), escaped != "\"" else { return false }
                content.append(escaped)
            case "[" where !isInAddress:
                // Thunderbird reads to the closing bracket, even if that is after the end of the comment.
                guard let end = rest.firstIndex(of: "]"), rest[..<end].allSatisfy(Self.isPlainOrBlank),
                    !rest[..<end].contains(where: "()[".unicodeScalars.contains)
                else {
                    return false
                }
                content.append(scalar)
                content.append(contentsOf: rest[...end])
                rest = rest[(end + 1)...]
            case "(", "]", "\\", "\"", "<", ">", ",", "\n": return false
            case _ where isInAddress && !Self.isPlain(scalar): return false
            default: content.append(scalar)
            }
        }
        return false
    }

    /// The maximum nesting of comments.
    private static let maximumDepth = 8

    /// RFC 5322 atext, and non-ASCII characters (RFC 6532 §3.2).
    private static func isAtomText(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return true }
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": return true
        default: return "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
        }
    }

    /// Whether the scalar is a blank, a parenthesis, a dot, or atext other than `!`, `%` and `=`, which some programs
    /// interpret in addresses.
    private static func isPlainOrBlank(_ scalar: Unicode.Scalar) -> Bool {
        isBlank(scalar) || scalar == "(" || scalar == ")"
            || isPlain(scalar) && !"!%=".unicodeScalars.contains(scalar)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        isAtomText(scalar) || scalar == " " || scalar == "."
    }
}

extension Mailbox {
    /// The only mailbox in `field`, in a form that all programs interpret alike; nil for anything else.
    ///
    /// RFC 5322 §3.6.2, restricted as described in `SoleMailbox`.
    package init?(soleIn field: HeaderField) {
        guard let mailbox = SoleMailbox.read(field) else { return nil }
        self = mailbox
    }
}
