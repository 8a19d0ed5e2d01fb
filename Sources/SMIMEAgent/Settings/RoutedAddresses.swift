import InternetMessage

/// The addresses to which mail servers may route an address by its local part alone, as in `bob%bank.example@relay.example`,
/// `bank.example!bob@relay.example` and `"bob@bank.example"@relay.example`.
///
/// Servers read such local parts as an address once more: they ignore blanks, quotes and comments, and continue until no
/// separator is left. Not all agree on the order, so each separator is read by itself. The result can name more addresses
/// than any server would.
///
/// RFC 5321 appendix F.2; Postfix's `allow_percent_hack`, `swap_bangpath` and `resolve_dequoted_address`
struct RoutedAddresses {
    /// The addresses as local part and domain, each once; they may be malformed.
    private(set) var all: [(local: String, domain: String)] = []
    private var seen: Set<[String]> = []

    /// Searches `local`, a local part without quotes.
    init(in local: String) {
        let scalars = local.unicodeScalars.filter { !($0 == "\\" || $0 == "\"" || $0.properties.isWhitespace) }
        search(Array(scalars))
        if scalars.contains("(") { search(scalars.withoutComments) }
    }

    private mutating func search(_ scalars: [Unicode.Scalar]) {
        let words = scalars.split { Self.separates($0) || Self.isSpecial($0) }
        // The number of words that end before the current place.
        var count = 0
        for (index, scalar) in scalars.enumerated() where Self.separates(scalar) {
            while count < words.count, words[count].endIndex <= index { count += 1 }
            guard count > 0, count < words.count else { continue }
            let (before, behind) = (words[count - 1], words[count])
            add(scalar == "!" ? (behind, before) : (before, behind))
        }
    }

    private mutating func add(_ found: (local: ArraySlice<Unicode.Scalar>, domain: ArraySlice<Unicode.Scalar>)) {
        let local = String(String.UnicodeScalarView(found.local))
        var domain = found.domain.drop { $0 == "." }
        while domain.last == "." { domain.removeLast() }
        let text = String(String.UnicodeScalarView(domain))
        if seen.insert([local, text]).inserted { all.append((local, text)) }
    }

    private static func separates(_ scalar: Unicode.Scalar) -> Bool { scalar == "@" || scalar == "%" || scalar == "!" }

    /// Whether the scalar is in neither an atom nor a domain (RFC 5322 §3.2.3).
    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        "()<>[]:;,".unicodeScalars.contains(scalar)
    }
}
