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
        return "\(label).\(wildcard(domain).dropFirst(2))"
    }

    /// The wildcard name, for the addresses of a domain that have no records of their own: `*._smimecert.example.org`.
    package static func wildcard(_ domain: String) -> String { "*._smimecert.\(domain)" }

    /// The domain of the addresses for which the record `name` is, in lower case.
    static func domain(of name: String) -> String {
        name.lowercased().split(separator: ".").drop { $0 != "_smimecert" }.dropFirst().joined(separator: ".")
    }

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

/// The data of an SMIMEA record that contains a certificate.
///
/// RFC 8162 §2, RFC 6698 §2.1
package struct SMIMEAData: Hashable, Sendable {
    /// The certificate usage field.
    package enum Usage: UInt8, Sendable {
        /// PKIX-TA: an authority that must be in the chain.
        case pkixTA = 0
        /// PKIX-EE: the certificate of the person.
        case pkixEE = 1
        /// DANE-TA: an authority that is trusted because of the DNS record alone.
        case daneTA = 2
        /// DANE-EE: the certificate of the person, which is trusted because of the DNS record alone.
        case daneEE = 3

        /// Whether the certificate is that of an authority.
        package var isAuthority: Bool { self == .pkixTA || self == .daneTA }
    }

    /// Why a record cannot be used.
    package enum Defect: Error, Hashable, Sendable {
        /// The record contains only the digest of a certificate or key.
        case digest
        /// The record contains only a key.
        case key
        /// The record is too short for its fixed fields and a certificate.
        case tooShort
        /// One of the fields has an unknown value.
        case unknown
    }

    package let usage: Usage
    /// The DER of the certificate; it has not been parsed.
    package let certificate: [UInt8]

    /// Reads the data of a record.
    package init(_ data: [UInt8]) throws(Defect) {
        guard data.count > 3 else { throw .tooShort }
        guard let usage = Usage(rawValue: data[0]), data[1] <= 1, data[2] <= 2 else { throw .unknown }
        guard data[2] == 0 else { throw .digest }
        guard data[1] == 0 else { throw .key }
        self.usage = usage
        certificate = Array(data[3...])
    }
}

extension SMIMEAData.Defect: CustomStringConvertible {
    /// The defect as the end of the sentence "a record was left out: ".
    package var description: String {
        switch self {
        case .digest: "it contains only the digest of a certificate or key"
        case .key: "it contains only a key, not a certificate"
        case .tooShort: "it is too short"
        case .unknown: "its usage, selector or matching type is unknown"
        }
    }
}
