import LibCrypto

/// The names of SMIMEA records, without the dot at their end.
///
/// RFC 8162 §3
package enum SMIMEAName {
    /// The name for one local part: `…._smimecert.example.org`, in front 28 bytes of its SHA-256.
    ///
    /// - Parameters:
    ///   - localPart: as in an address, perhaps in quotes.
    ///   - domain: with A-labels.
    /// - Throws: `OpenSSLError`
    package static func name(of localPart: String, at domain: String) throws -> String {
        let digest = try DigestAlgorithm.sha256.digest(Array(unquoted(localPart).utf8)).prefix(28)
        let label = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(label).\(whole(domain).dropFirst(2))"
    }

    /// The name for all addresses of a domain that have none of their own: `*._smimecert.example.org`.
    package static func whole(_ domain: String) -> String { "*._smimecert.\(domain)" }

    /// The local part without the quotes that only the syntax of mail needs.
    private static func unquoted(_ localPart: String) -> String {
        guard localPart.hasPrefix("\""), localPart.hasSuffix("\""), localPart.count >= 2 else { return localPart }
        var text = ""
        var isEscaped = false
        for character in localPart.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            text.append(character)
            isEscaped = false
        }
        return text
    }
}
