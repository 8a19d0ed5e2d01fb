import LibCrypto

/// The names of SMIMEA records, without the trailing dot.
///
/// RFC 8162 §3
package enum SMIMEAName {
    /// The name for one local part, such as `…._smimecert.example.org`; its first label is the first 28 bytes of the local
    /// part's SHA-256.
    ///
    /// - Parameters:
    ///   - localPart: the local part as in an address, with or without quotes.
    ///   - domain: the domain with A-labels.
    /// - Throws: `OpenSSLError`
    package static func name(of localPart: String, at domain: String) throws -> String {
        let digest = try DigestAlgorithm.sha256.digest(Array(unquoted(localPart).utf8)).prefix(28)
        let label = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(label).\(whole(domain).dropFirst(2))"
    }

    /// The wildcard name, for the addresses of a domain that have no records of their own: `*._smimecert.example.org`.
    package static func whole(_ domain: String) -> String { "*._smimecert.\(domain)" }

    /// The local part without the surrounding quotes and the escaping backslashes of a quoted-string (RFC 5322 §3.2.4).
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
