import ByteStreams
import InternetMessage

/// The addresses that a lenient program may take for the sender, even in malformed text.
///
/// These addresses can be a reason to reject a message, but are no evidence of its sender.
struct MentionedAddresses {
    /// The addresses that were found.
    private(set) var all: Set<EmailAddress> = []
    /// Whether there are too many `@` to examine all.
    private(set) var isIncomplete = false

    /// Searches `text`, `text` without comments and quoting, and its encoded words.
    init(in text: String) {
        let bare = Self.withoutBlanksInside(Self.withoutCommentsAndQuotes(text))
        for form in Set([
            text, bare, EncodedWord.decode(text, undecodable: .readAsUTF8),
            EncodedWord.decodeAssumingASCII(text),
        ]) { search(Array(form.unicodeScalars)) }
    }

    /// Searches each From field of the message in `source`, including those after a line that is not a field and ends the
    /// header for this program.
    ///
    /// - Throws: what reading the source throws.
    init(inFromOf source: any ByteSource) throws {
        let header = try source.bytes(in: 0..<min(source.count, MIMELimit.headerBytes.rawValue))
        let lines = header.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .prefix { !$0.isEmpty && !$0.elementsEqual([0x0D]) }
            // Some programs ignore NUL.
            .map { $0.filter { $0 != 0 } }
        // Some programs also end lines at other characters, but not all at the same ones.
        search(lines) { $0.split { (0x0B...0x0D).contains($0) } }
        guard lines.contains(where: { LineSeparator.mayOccur(in: $0[...]) }) else { return }
        search(lines) { LineSeparator.pieces(of: $0[...]) }
    }

    /// Searches the From fields among `lines`. `divide` splits a line into pieces that some programs take for lines.
    private mutating func search(_ lines: [[UInt8]], _ divide: ([UInt8]) -> [ArraySlice<UInt8>]) {
        var field: [UInt8]?
        for line in lines {
            for (index, piece) in divide(line).enumerated() {
                let body = Self.bodyOfFrom(piece)
                if body == nil, index > 0 || piece.first == 0x20 || piece.first == 0x09 {
                    field?.append(contentsOf: [0x20] + piece)
                } else {
                    add(field)
                    field = body
                }
            }
        }
        add(field)
    }

    private mutating func add(_ field: [UInt8]?) {
        guard let field else { return }
        let found = Self(in: String(decoding: field, as: UTF8.self))
        all.formUnion(found.all)
        isIncomplete = isIncomplete || found.isIncomplete
    }

    /// The text after the colon, if `line` begins a From field; nil otherwise. Invisible bytes may precede the name.
    private static func bodyOfFrom(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        let start = line.drop { $0 >= 0x80 || $0 < 0x20 }
        guard start.prefix(4).map({ $0 | 0x20 }) == Array("from".utf8) else { return nil }
        let rest = start.dropFirst(4).drop { $0 == 0x20 || $0 == 0x09 }
        return rest.first == UInt8(ascii: ":") ? Array(rest.dropFirst()) : nil
    }

    /// The maximum number of `@` characters to examine: more than real mail has, but few enough that all addresses found
    /// can be looked up.
    private static let maximumCount = 1_000
    /// A local part may have 64 bytes, a domain 255.
    private static let maximumLength = 255

    private mutating func search(_ text: [Unicode.Scalar]) {
        let places = text.indices.filter { text[$0] == "@" }
        isIncomplete = isIncomplete || places.count > Self.maximumCount
        for at in places.prefix(Self.maximumCount) {
            let before = text[..<at].suffix(Self.maximumLength)
            let behind = text[(at + 1)...].prefix(Self.maximumLength)
            // Programs differ on whether non-ASCII characters belong to an address, so both readings are tried.
            let isASCII = before.allSatisfy(\.isASCII) && behind.allSatisfy(\.isASCII)
            for isWide in isASCII ? [false] : [false, true] {
                let local = Array(before.reversed().prefix { Self.isLocal($0, isWide) }.reversed())
                var domain = behind.prefix { Self.isDomain($0, isWide) }
                while domain.last == "." || domain.last == "-" { domain.removeLast() }
                let clean = local.drop { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
                add(local, domain)
                if clean.count < local.count { add(Array(clean), domain) }
            }
        }
    }

    private mutating func add(_ local: [Unicode.Scalar], _ domain: ArraySlice<Unicode.Scalar>) {
        var text = String.UnicodeScalarView(local)
        text.append("@")
        text.append(contentsOf: domain)
        if let address = try? EmailAddress(String(text)) { all.insert(address) }
    }

    private static func isLocal(_ scalar: Unicode.Scalar, _ isWide: Bool) -> Bool {
        guard scalar.isASCII else { return isWide }
        return scalar.value > 0x20 && scalar.value < 0x7F && !"()<>[]:;@\\,\"".unicodeScalars.contains(scalar)
    }

    private static func isDomain(_ scalar: Unicode.Scalar, _ isWide: Bool) -> Bool {
        guard scalar.isASCII else { return isWide }
        return scalar == "-" || scalar == "." || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    private static func withoutCommentsAndQuotes(_ text: String) -> String {
        let rest = text.unicodeScalars.withoutComments.filter { !"\\\")[]".unicodeScalars.contains($0) }
        return String(String.UnicodeScalarView(rest))
    }

    /// Removes blanks beside an `@` or a dot.
    private static func withoutBlanksInside(_ text: String) -> String {
        var rest: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            let isBlank = scalar == " " || scalar == "\t"
            if isBlank, rest.last == "@" || rest.last == "." { continue }
            if scalar == "@" || scalar == "." {
                while rest.last == " " || rest.last == "\t" { rest.removeLast() }
            }
            rest.append(scalar)
        }
        return String(String.UnicodeScalarView(rest))
    }
}
