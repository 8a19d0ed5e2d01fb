import Foundation
package import InternetMessage
package import SMIMEStore

/// The characters that begin a detail in a local part, as in `alice+tag@example.org`. Mail servers ignore the detail.
///
/// Mail servers compare bytes, so everything here compares scalars: a combining mark forms one `Character` with the
/// delimiter before it, and some letters form one with the `@` after them.
///
/// RFC 5233; Postfix's `recipient_delimiter`
package struct Subaddressing: Hashable, Sendable {
    private let delimiters: String

    /// `+`
    package static let standard = Subaddressing("+")

    private init(_ delimiters: String) { self.delimiters = delimiters }

    /// Reads the delimiters, one character each; an empty `text` means that there are none. Returns nil if a character is
    /// not punctuation that a local part may contain, or there are more than eight.
    package init?(parsing text: String) {
        guard text.utf8.count <= 8, text.allSatisfy({ "!#$%&'*+-/=?^_`{|}~.".contains($0) }) else { return nil }
        delimiters = text
    }

    /// The address without its detail; nil if the address has none.
    package func base(of address: EmailAddress) -> EmailAddress? {
        let local = Self.localPart(of: address).unicodeScalars
        guard let end = local.dropFirst().firstIndex(where: delimiters.unicodeScalars.contains)
        else { return nil }
        return Self.address(String(local[..<end]), at: address.asciiDomain)
    }

    /// Other addresses that may receive mail for `address`: the address without blanks and backslashes in its local
    /// part, those of `RoutedAddresses`, and `address` and all of these without their details.
    package func implied(by address: EmailAddress) -> [EmailAddress] {
        let local = Self.localPart(of: address)
        let short = String(local.unicodeScalars.filter { !$0.properties.isWhitespace && $0 != "\\" })
        let trimmed = short == local ? nil : Self.address(short, at: address.asciiDomain)
        let found = [trimmed].compactMap(\.self) + RoutedAddresses(in: local).all.compactMap(Self.address)
        let all = [address] + found
        return all.compactMap(base) + found
    }

    private static func address(_ local: String, at domain: String) -> EmailAddress? {
        // Some programs map the characters of a domain before they look it up (UTS #46).
        let mapped = domain.compatiblyComposed.unicodeScalars.filter { !$0.isUnsafeToDisplay }
            .map { $0 == "\u{3002}" ? "." : $0 }
        let domains = [domain] + (domain.utf8.allSatisfy { $0 < 128 } ? [] : [String(String.UnicodeScalarView(mapped))])
        return domains.lazy.flatMap { domain in
            ["\(local)@\(domain)", "\"\(local.escapedForQuotes)\"@\(domain)"]
        }
        .compactMap { try? EmailAddress(envelope: $0) }.first
    }

    /// The local part as written, without quotes. It is not normalized: mail servers also find a delimiter that a combining
    /// mark follows.
    private static func localPart(of address: EmailAddress) -> String {
        let local = address.localPart.unicodeScalars
        guard local.first == "\"", local.last == "\"", local.count >= 2 else { return String(local) }
        var (unescaped, isEscaped) = (String.UnicodeScalarView(), false)
        for scalar in local.dropFirst().dropLast() {
            isEscaped = scalar == "\\" && !isEscaped
            if !isEscaped { unescaped.append(scalar) }
        }
        return String(unescaped)
    }
}

extension Subaddressing: CustomStringConvertible {
    package var description: String { delimiters }
}

extension StoreSnapshot {
    /// The account that mail of `address` belongs to. The first that exists of these: the account of the address itself, of
    /// the address without its detail, of its whole domain.
    package func account(for address: EmailAddress, _ subaddressing: Subaddressing) throws -> Account? {
        let own = try account(for: address)
        guard let base = subaddressing.base(of: address), own?.isNamed(address) != true else { return own }
        return try account(for: base) ?? own
    }
}

extension Account {
    /// Whether `address` is the account's main address or an alias. Being in a domain of the account is not enough.
    fileprivate func isNamed(_ address: EmailAddress) -> Bool {
        self.address == address || aliases.contains { (try? EmailAddress($0)) == address }
    }
}

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
