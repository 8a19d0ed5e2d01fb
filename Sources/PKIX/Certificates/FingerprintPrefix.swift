/// The first digits of a fingerprint, or all of them, as typed by a user.
package struct FingerprintPrefix: Hashable, Sendable {
    /// The minimum number of digits. That many digits suffice if only one fingerprint begins with them.
    package static let minimumCount = 8
    /// The number of digits of a fingerprint.
    private static let maximumCount = 64

    /// Hexadecimal digits in lower case.
    package let digits: String

    /// Parses 8 to 64 hexadecimal digits in either case, with or without the prefix `sha256:`; colons are ignored.
    package init?(_ text: some StringProtocol) {
        let text = text.lowercased()
        let digits = (text.hasPrefix("sha256:") ? text.dropFirst("sha256:".count) : text[...]).filter { $0 != ":" }
        guard (Self.minimumCount...Self.maximumCount).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.digits = digits
    }

    /// The fingerprint, if the prefix has all digits; nil otherwise.
    package var whole: Fingerprint? { Fingerprint(digits) }

    /// The first and the last fingerprint that begin with this prefix.
    package var range: ClosedRange<Fingerprint>? {
        let rest = Self.maximumCount - digits.utf8.count
        guard let first = Fingerprint(digits + String(repeating: "0", count: rest)),
            let last = Fingerprint(digits + String(repeating: "f", count: rest))
        else { return nil }
        return first...last
    }

    /// The `fingerprints` that begin with this prefix.
    package func matches(among fingerprints: some Sequence<Fingerprint>) -> Set<Fingerprint> {
        Set(fingerprints.filter { $0.hexadecimal.hasPrefix(digits) })
    }
}

extension FingerprintPrefix: CustomStringConvertible {
    package var description: String { "sha256:\(digits)" }
}
