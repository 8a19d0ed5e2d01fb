package import SMIMEStore

/// The protection that the command line or the message itself requests.
package struct ProtectionRequest: Hashable, Sendable {
    /// Whether to sign the message; nil if the request does not say.
    package var sign: Policy.Level?
    /// Whether to encrypt the message; nil if the request does not say.
    package var encrypt: Policy.Level?

    package init(sign: Policy.Level? = nil, encrypt: Policy.Level? = nil) {
        self.sign = sign
        self.encrypt = encrypt
    }

    /// Reads `encrypt=require; sign=never`, the body of an X-SMIME field or the meaning of a subject tag.
    ///
    /// Also accepts blanks, commas for semicolons, colons for equals signs, upper and lower case, `yes`, `no` and a bare
    /// `encrypt`. A level that cannot be read is read as `require`, and a word that names neither signing nor encryption as
    /// `require` for both: a typing error must not send unencrypted what the sender wanted to protect.
    package init(parsing text: String) {
        for piece in Self.pieces(text) {
            let sides = Self.sides(piece)
            let value = sides.count == 2 ? Self.level(Self.word(sides[1])) : .require
            switch Self.word(sides[0]) {
            case "encrypt": encrypt = Self.stricter(encrypt, or: value)
            case "sign": sign = Self.stricter(sign, or: value)
            default: (sign, encrypt) = (.require, .require)
            }
        }
    }

    /// The pieces of `text` that cannot be read, and are therefore treated as `require`.
    package static func unread(in text: String) -> [String] {
        pieces(text).filter { piece in
            let sides = sides(piece)
            switch word(sides[0]) {
            case "encrypt", "sign": return sides.count == 2 && !isLevel(word(sides[1]))
            case "require", "required": return false
            default: return true
            }
        }.map { word($0) }
    }

    /// Whether the request asks for less than full protection.
    package var lowersProtection: Bool { [sign, encrypt].contains { $0 == .never || $0 == .available } }

    /// The request without its levels that would lower the protection.
    package var withoutLowering: ProtectionRequest {
        ProtectionRequest(sign: sign == .require ? sign : nil, encrypt: encrypt == .require ? encrypt : nil)
    }

    /// Both requests combined; the stricter level applies where they differ.
    package func merging(_ other: ProtectionRequest) -> ProtectionRequest {
        ProtectionRequest(sign: Self.stricter(sign, or: other.sign), encrypt: Self.stricter(encrypt, or: other.encrypt))
    }

    private static func stricter(_ one: Policy.Level?, or other: Policy.Level?) -> Policy.Level? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }

    private static func pieces(_ text: String) -> [Substring] {
        text.split { $0 == ";" || $0 == "," || $0.isNewline }
            .filter { piece in !piece.allSatisfy { $0.isWhitespace || $0 == "=" } }
    }

    private static func sides(_ piece: Substring) -> [Substring] {
        piece.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "=" || $0 == ":" }
    }

    /// The text in lower case, without quotes and blanks at its ends.
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

    /// Whether `word` is a level, in any spelling.
    private static func isLevel(_ word: String) -> Bool {
        level(word) != .require || ["require", "required", "always", "yes", "on", "true", "1"].contains(word)
    }
}
