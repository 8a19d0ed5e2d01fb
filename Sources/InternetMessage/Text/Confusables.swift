/// Recognizes characters that look like other characters.
///
/// Suspicious are:
/// - a word that mixes alphabets with similar letters
/// - a word in an address whose letters all look Latin, but are not
/// - variant forms of ASCII characters
///
/// UTS #39 §5, limited to alphabets with letters that look like ASCII
enum Confusables {
    private enum Alphabet { case latin, greek, cyrillic, armenian, cherokee, coptic, lisu }

    /// The indices in `scalars` of characters that look like other characters.
    static func indices(in scalars: [Unicode.Scalar]) -> Set<Int> {
        var found: Set<Int> = []
        var start = 0
        while start < scalars.count {
            // A piece of text between blanks, brackets, quotes and `,;:=` is an address if it contains an @. Its words are
            // separated by all ASCII characters except letters.
            let end = scalars[start...].firstIndex(where: isBoundary) ?? scalars.count
            let isAddress = scalars[start..<end].contains("@")
            for word in scalars[start..<end].split(whereSeparator: { $0.isASCII && !$0.properties.isAlphabetic }) {
                found.formUnion(disguises(in: word, isAddress: isAddress))
            }
            start = end + 1
        }
        return found
    }

    private static func isBoundary(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || "<>()[]\"',;:=".unicodeScalars.contains(scalar)
    }

    private static func disguises(in word: ArraySlice<Unicode.Scalar>, isAddress: Bool) -> [Int] {
        guard word.contains(where: { !$0.isASCII }) else { return [] }
        let alphabets = Set(word.compactMap(alphabet))
        let isMixed = alphabets.count > 1
        let letters = word.filter { $0.properties.isAlphabetic }
        let isImitation = isAddress && !letters.isEmpty && letters.allSatisfy(imitations.contains)
        return word.indices.filter { index in
            let scalar = word[index]
            return isVariant(scalar) || (isMixed || isImitation) && alphabet(scalar).map { $0 != .latin } == true
        }
    }

    private static func alphabet(_ scalar: Unicode.Scalar) -> Alphabet? {
        switch scalar.value {
        case 0x41...0x5A, 0x61...0x7A, 0xC0...0x24F, 0x1E00...0x1EFF: .latin
        case 0x370...0x3FF, 0x1F00...0x1FFF: .greek
        case 0x400...0x52F, 0x1C80...0x1C8F, 0x2DE0...0x2DFF, 0xA640...0xA69F: .cyrillic
        case 0x530...0x58F: .armenian
        case 0x13A0...0x13FF, 0xAB70...0xABBF: .cherokee
        case 0x2C80...0x2CFF: .coptic
        case 0xA4D0...0xA4FF: .lisu
        default: nil
        }
    }

    /// Whether the scalar is a variant form of an ASCII character, for example phonetic, full-width or mathematical.
    private static func isVariant(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x131, 0x17F, 0x250...0x2AF, 0x2B0...0x2FF, 0x1D00...0x1DBF, 0x2010...0x2012, 0x2024, 0x2043, 0x2044,
            0x2070...0x209F, 0x20B0, 0x2100...0x218F, 0x2212, 0x2215, 0x2216, 0x2236, 0x2460...0x24FF, 0x29F8, 0xFE52,
            0xFE6B, 0xFF01...0xFF5E, 0x1D400...0x1D7FF, 0x1F100...0x1F1FF:
            // №, ™ and similar signs are not confused with letters.
            ![0x2116, 0x2122, 0x2103, 0x2109].contains(scalar.value)
        default: false
        }
    }

    /// Letters of other alphabets that look like Latin letters in most typefaces.
    private static let imitations = Set(
        "аеіјорсухѕһԁԛԝүӏАВЕІЈКМНОРСТХУЅԌԚԜҮӀαγικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧοսոօհցԱՍՕ".unicodeScalars
    )
}
