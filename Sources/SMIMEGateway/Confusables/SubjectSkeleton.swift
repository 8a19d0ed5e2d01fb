import Foundation

/// The appearance of a subject, a field name or a host name, in lower case: a character that resembles an ASCII
/// character is replaced by that character, and invisible characters are left out.
///
/// UTS #39 §4, limited to characters that occur in tags, field names and host names; UAX #15 (NFKD)
struct SubjectSkeleton {
    /// A visible character, and the index in the text of the scalar from which it results.
    struct Glyph {
        let character: Character
        let place: Int
    }

    let glyphs: [Glyph]

    init(_ scalars: [Unicode.Scalar]) {
        var known: [Unicode.Scalar: [Character]] = [:]
        var glyphs: [Glyph] = []
        glyphs.reserveCapacity(scalars.count)
        for (place, scalar) in scalars.enumerated() {
            // Most text is ASCII, and needs no Unicode tables.
            if scalar.isASCII {
                if let character = Self.appearance(ofASCII: scalar) {
                    glyphs.append(Glyph(character: character, place: place))
                }
                continue
            }
            let seen = known[scalar] ?? Self.appearance(of: scalar)
            known[scalar] = seen
            glyphs += seen.map { Glyph(character: $0, place: place) }
        }
        self.glyphs = glyphs
    }

    init(_ text: String) { self.init(Array(text.unicodeScalars)) }

    /// The skeleton as a string.
    var text: String { String(glyphs.map(\.character)) }

    /// Whether `scalar` is a colon, or resembles a colon.
    static func isColon(_ scalar: Unicode.Scalar) -> Bool {
        scalar == ":" || !scalar.isASCII && appearance(of: scalar) == [":"]
    }

    /// Whether `scalar` changes the order in which other characters are shown.
    ///
    /// UAX #9 §2
    static func isBidiControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether `scalar` is invisible by itself. This includes combining marks.
    static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format, .privateUse, .unassigned: true
        case .control: !scalar.properties.isWhitespace
        // The last two are the replacement characters for missing objects and characters.
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{FFFC}" || scalar == "\u{FFFD}"
        }
    }

    /// The visible character for an ASCII character, in lower case. Braces become brackets, and `$` becomes `s`. Nil for
    /// control characters other than white space.
    private static func appearance(ofASCII scalar: Unicode.Scalar) -> Character? {
        switch scalar.value {
        case 0x41...0x5A: Character(Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value | 0x20)))
        case 0x24: "s"
        case 0x7B: "["
        case 0x7D: "]"
        case 0x09...0x0D, 0x20...0x7E: Character(scalar)
        default: nil
        }
    }

    private static func appearance(of scalar: Unicode.Scalar) -> [Character] {
        if isUnseen(scalar) { return [] }
        if let letter = squareLetter(scalar) { return [letter] }
        if let prototype = confusables[scalar] { return [prototype] }
        if let digit = scalar.properties.numericType == .decimal ? scalar.properties.numericValue : nil {
            return Array("\(UInt8(exactly: digit) ?? 0)")
        }
        return String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars.flatMap { part -> [Character] in
            if isUnseen(part) { return [] }
            if part.properties.isWhitespace { return [" "] }
            return [confusables[part] ?? part.properties.lowercaseMapping.first ?? Character(part)]
        }
    }

    /// The letter that `scalar` shows, for a letter in a square or circle or a regional indicator of a flag; nil for
    /// other characters. Unicode does not decompose these.
    private static func squareLetter(_ scalar: Unicode.Scalar) -> Character? {
        let first: UInt32
        switch scalar.value {
        case 0x1F150...0x1F169: first = 0x1F150
        case 0x1F170...0x1F189: first = 0x1F170
        case 0x1F1E6...0x1F1FF: first = 0x1F1E6
        case 0xE0061...0xE007A: first = 0xE0061
        default: return nil
        }
        return Character(Unicode.Scalar(UInt8(ascii: "a") + UInt8(truncatingIfNeeded: scalar.value - first)))
    }

    /// The characters that resemble each ASCII character: letters of other alphabets, small capitals, other brackets and
    /// colons.
    private static let confusables: [Unicode.Scalar: Character] = {
        let rows: [(Character, String)] = [
            ("a", "аαɑᴀᎪⲁАΑꓮ⍺ӑӓ"), ("b", "ЬьВΒвʙᏴꓐꞴβᏼƀⲂ"), ("c", "сϲᴄСϹⅽⲥᏟꓚꮯ"), ("d", "ԁɗᴅᎠꓓꭰđժ"),
            ("e", "℮еҽᴇЕΕᎬꓰєɛεꬲꭼєⲉҿ"), ("f", "ƒϝꓝꜰքẝ"), ("g", "ɡցɢԌᏀꓖǥᶃꮐ"), ("h", "һհНΗʜᎻꓧнᏂⲎ"),
            ("i", "іı⍳ιɩɪӏІΙⅰⲒᎥꓲꙇӀ|ǀⵏ"), ("j", "јϳᴊЈᎫꓙʝյ"), ("k", "кκᴋКΚᏦꓗқⲕ"), ("l", "ӏⅼʟᏞꓡǀاłⳐ"),
            ("m", "мᴍМΜᎷꓟⲘⅿ"), ("n", "пոηɴΝꓠⲚռᴎ"), ("o", "оοօᴏОΟⲟꓳסഠ০੦೦๐໐၀〇օѳөɵø"), ("p", "⍴рρᴘРΡⲣᏢꓑ"),
            ("q", "ԛգզԚⵕϙ"), ("r", "гᴦʀɾᎡꓣⲅꮁᏒꭇ"), ("s", "ѕꜱЅՏᏚꓢꮪʂ"), ("t", "тτᴛТΤᎢꓔⲦꭲ"),
            ("u", "∪υսᴜՍꓴцʋ"), ("v", "∨νѵᴠѴᏙꓦט"), ("w", "⍵ԝѡաᴡԜᎳꓪⲱш"), ("x", "хχⅹХΧꓫⲭ᙮×"), ("y", "уүγʏУΥҮᎩꓬⲨყ"),
            ("z", "ᴢΖᏃꓜⲌʐ"), (":", "։׃：꞉ː∶˸፡᛬ࠃ⠆"), (" ", "\u{2800}"), (".", "。｡．․·•‧∙⋅・･᛫⸱۔܁܂٠۰꘎𐩐𝅭"),
            ("-", "‐‑‒–—―⁃−˗➖⸺⸻﹘﹣－ー─━﹉╌╴╶⎯⏤〜～֊᐀᠆ｰ"), ("_", "＿ˍ﹍﹎﹏‿⁔"),
            ("[", "［【〔⁅❲⟦〚⦋⦍⦏⌈⌊⎡⎣﹇﹝「『﹁⸢⸤｢〖⦗⁽❴｛﹛⦃❬❮❰⟨⟪⦑⧼〈《‹«︷︹︻︽︿﹃⎢"),
            ("]", "］】〕⁆❳⟧〛⦌⦎⦐⌉⌋⎤⎦﹈﹞」』﹂⸣⸥｣〗⦘⁾❵｝﹜⦄❭❯❱⟩⟫⦒⧽〉》›»︸︺︼︾﹀﹄⎥"),
        ]
        return Dictionary(
            rows.flatMap { character, confusables in
                confusables.unicodeScalars.filter { !$0.isASCII }.map { ($0, character) }
            },
            uniquingKeysWith: { first, _ in first }
        )
    }()
}

/// Compares words by their appearance at a glance.
///
/// The words are parts of the text of a `SubjectSkeleton`, which is in lower case.
enum ConfusableWord {
    /// `word` with digits replaced by the letters that they resemble, `l` by `i`, and pairs of letters by the single letter
    /// that they resemble.
    ///
    /// UTS #39 §4
    static func folded(_ word: String) -> String {
        var output = ""
        for character in word {
            let letter = letters[character] ?? character
            if let last = output.last, let merged = pairs["\(last)\(letter)"] {
                output.removeLast()
                output.append(merged)
            } else {
                output.append(letter)
            }
        }
        return output
    }

    /// Whether people may mistake `seen` for `word`; both are folded. A character that resembles no known ASCII character
    /// may stand for any letter, if at least half of the word is in ASCII.
    static func isConfusable(_ seen: String, with word: String) -> Bool {
        if seen == word { return true }
        return mayBeConfusable(seen) && seen.count == word.count
            && zip(seen, word).allSatisfy { $0 == $1 || !$0.isASCII }
    }

    /// Whether `seen`, which is folded, has non-ASCII characters, but so few that people may mistake it for a word of
    /// ASCII letters: at most half.
    static func mayBeConfusable(_ seen: String) -> Bool {
        guard !seen.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return seen.count(where: { !$0.isASCII }) * 2 <= seen.count
    }

    private static let letters: [Character: Character] = [
        "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "6": "g", "7": "t", "8": "b", "9": "g", "l": "i",
    ]
    /// Pairs of letters with the letter that they resemble. They contain `i` instead of `l`.
    private static let pairs: [String: Character] = ["ci": "d", "rn": "m", "vv": "w"]
}
