import Foundation
package import InternetMessage
package import SMIMEStore

/// The characters that begin a detail in a local part, which mail servers ignore, as in `alice+tag@example.org`.
///
/// RFC 5233; Postfix's `recipient_delimiter`
package struct Subaddressing: Hashable, Sendable {
    private let delimiters: String

    /// `+`
    package static let standard = Subaddressing("+")

    private init(_ delimiters: String) { self.delimiters = delimiters }

    /// Reads the delimiters, one character each; empty if `text` is empty. Nil if a character is not punctuation that a local part
    /// can have.
    package init?(parsing text: String) {
        guard text.utf8.count <= 8, text.allSatisfy({ "!#$%&'*+-/=?^_`{|}~.".contains($0) }) else { return nil }
        delimiters = text
    }

    /// The address without its detail; nil if it has none.
    package func base(of address: EmailAddress) -> EmailAddress? {
        // The key has no quotes but those that are needed.
        guard let local = Self.localPart(of: address), let first = local.first,
            let end = local.dropFirst().firstIndex(where: delimiters.contains)
        else { return nil }
        let base = String(first) + local[local.index(after: local.startIndex)..<end]
        return Self.address(base, at: address.asciiDomain)
    }

    /// Other addresses that may receive mail for `address`: the address without its detail, and those to which mail
    /// servers route `bob%bank.example@relay.example`, `bank.example!bob@relay.example` and
    /// `"bob@bank.example"@relay.example`.
    ///
    /// RFC 5321 appendix F.2; Postfix's `allow_percent_hack` and `swap_bangpath`
    package func implied(by address: EmailAddress) -> [EmailAddress] {
        var found: [EmailAddress] = []
        var rest = Self.localPart(of: address) ?? ""
        // Each round removes one separator.
        while found.count < 8, let routed = Self.routed(rest) {
            found.append(routed)
            rest = Self.localPart(of: routed) ?? ""
        }
        let all = [address] + found
        return all.compactMap(base) + found
    }

    private static func routed(_ local: String) -> EmailAddress? {
        if let at = local.lastIndex(where: { $0 == "@" || $0 == "%" }) {
            return address(String(local[..<at]), at: String(local[local.index(after: at)...]))
        }
        guard let bang = local.firstIndex(of: "!") else { return nil }
        return address(String(local[local.index(after: bang)...]), at: String(local[..<bang]))
    }

    private static func address(_ local: String, at domain: String) -> EmailAddress? {
        let quoted = local.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return (try? EmailAddress("\(local)@\(domain)")) ?? (try? EmailAddress("\"\(quoted)\"@\(domain)"))
    }

    /// The local part in lower case, without quotes; nil never happens for an address.
    private static func localPart(of address: EmailAddress) -> String? {
        guard let at = address.key.lastIndex(of: "@") else { return nil }
        var local = String(address.key[..<at])
        guard local.hasPrefix("\""), local.hasSuffix("\""), local.count >= 2 else { return local }
        local = String(local.dropFirst().dropLast())
        return local.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
    }
}

extension Subaddressing: CustomStringConvertible {
    package var description: String { delimiters }
}

extension StoreSnapshot {
    /// The account that mail of `address` belongs to: by the address itself, without its detail, or by its whole domain.
    package func account(for address: EmailAddress, _ subaddressing: Subaddressing) throws -> Account? {
        let own = try account(for: address)
        guard let base = subaddressing.base(of: address), own?.isNamed(address) != true else { return own }
        return try account(for: base) ?? own
    }
}

extension Account {
    /// Whether `address` is the main one or an alias, and not only in a domain of the account.
    fileprivate func isNamed(_ address: EmailAddress) -> Bool {
        self.address == address || aliases.contains { (try? EmailAddress($0)) == address }
    }
}
