import LibCrypto

/// The names of SMIMEA records.
///
/// RFC 8162 §3
package enum SMIMEAName {
    /// The name for one local part: `…._smimecert.example.org`, in front 28 bytes of its SHA-256.
    ///
    /// - Parameters:
    ///   - localPart: without the quotes that some are written with.
    ///   - domain: with A-labels.
    /// - Throws: `OpenSSLError`
    package static func name(of localPart: String, at domain: String) throws -> String {
        let digest = try DigestAlgorithm.sha256.digest(Array(localPart.utf8)).prefix(28)
        let label = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(label).\(whole(domain).dropFirst(2))"
    }

    /// The name for all addresses of a domain that have none of their own: `*._smimecert.example.org`.
    package static func whole(_ domain: String) -> String { "*._smimecert.\(domain)" }
}
