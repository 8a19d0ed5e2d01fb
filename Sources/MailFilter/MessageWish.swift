public import Keystore

/// What somebody wants for one message: the command line, or the message itself.
public struct MessageWish: Hashable, Sendable {
    public var sign: Policy.Level?
    public var encrypt: Policy.Level?

    public init(sign: Policy.Level? = nil, encrypt: Policy.Level? = nil) {
        self.sign = sign
        self.encrypt = encrypt
    }

    /// Reads `encrypt=require; sign=never`, the body of an X-SMIME field or the meaning of a subject tag.
    ///
    /// Blanks, commas for semicolons, colons for equals signs, letters of either case, `yes`, `no` and a bare `encrypt` are
    /// understood; a bare `require` is for both axes. What is said of neither axis is passed over. A level that cannot be read is taken for `require`: a slip of the pen must
    /// not send in clear what somebody wanted to protect.
    public init(parsing text: String) {
        for piece in text.split(whereSeparator: { $0 == ";" || $0 == "," || $0.isNewline }) {
            let sides = piece.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "=" || $0 == ":" }
            let value = sides.count == 2 ? Self.level(Self.word(sides[1])) : .require
            switch Self.word(sides[0]) {
            case "encrypt": encrypt = Self.stricter(encrypt, value)
            case "sign": sign = Self.stricter(sign, value)
            case "require", "required": (sign, encrypt) = (.require, .require)
            default: break
            }
        }
    }

    /// Both wishes; where they differ, the stricter one.
    public func merging(_ other: MessageWish) -> MessageWish {
        MessageWish(sign: Self.stricter(sign, other.sign), encrypt: Self.stricter(encrypt, other.encrypt))
    }

    private static func stricter(_ one: Policy.Level?, _ other: Policy.Level?) -> Policy.Level? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }

    /// The text without quotes and what is around it.
    private static func word(_ text: Substring) -> String {
        var word = text.drop { $0.isWhitespace || $0 == "\"" }
        while let last = word.last, last.isWhitespace || last == "\"" { word.removeLast() }
        return word.lowercased()
    }

    private static func level(_ word: String) -> Policy.Level {
        switch word {
        case "available", "auto", "optional": .available
        case "never", "no", "off", "false", "none", "0": .never
        default: .require
        }
    }
}
