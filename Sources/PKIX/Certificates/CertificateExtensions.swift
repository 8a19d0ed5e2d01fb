import ByteStreams
import SwiftASN1

/// The extensions that are relevant to S/MIME.
///
/// RFC 5280 §4.2, RFC 8550 §4.4
struct CertificateExtensions {
    private(set) var keyUsage: KeyUsage?
    private(set) var extendedKeyUsages: [String]?
    private(set) var isCertificateAuthority = false
    private(set) var subjectKeyIdentifier: [UInt8]?
    private(set) var authorityKeyIdentifier: [UInt8]?
    /// The mail addresses in the subject alternative name that are readable as text.
    private(set) var addresses: [String] = []
    /// The addresses of type SmtpUTF8Mailbox.
    private(set) var internationalAddresses: [String] = []
    /// Whether the subject alternative name contains a mail address, readable or not.
    private(set) var hasAddress = false
    private(set) var hasMalformedAddress = false
    /// The DER of the SMIMECapabilities (RFC 4262); nil if absent or unreadable.
    private(set) var capabilities: [UInt8]?
    /// The dotted OIDs of the first `Certificate.maximumNames` certificate policies; empty if they are unreadable.
    private(set) var policies: [String] = []
    /// The DER of the NameConstraints.
    private(set) var nameConstraints: [UInt8]?
    /// The number of parts that are compared with other certificates and with lists.
    private(set) var comparedParts = ComparedParts()

    init(_ nodes: [ASN1Node]) throws {
        comparedParts.extensions = nodes.count
        var seen: Set<ASN1ObjectIdentifier> = []
        for node in nodes {
            var fields = try ElementReader(node)
            let type = try fields.next(.objectIdentifier).objectIdentifier()
            _ = fields.optional(.boolean)
            let value = try fields.next(.octetString).octets()
            guard seen.insert(type).inserted else {
                throw ElementReader.Mismatch(description: "extension \(type) appears twice")
            }
            try read(type, value)
        }
    }

    private mutating func read(_ type: ASN1ObjectIdentifier, _ value: [UInt8]) throws {
        count(type, value)
        switch type {
        case [2, 5, 29, 14]: subjectKeyIdentifier = try ASN1Node.read(value).octets()
        case [2, 5, 29, 15]: keyUsage = try Self.keyUsage(ASN1Node.read(value))
        case [2, 5, 29, 17]: try readAlternativeNames(ASN1Node.read(value))
        case [2, 5, 29, 19]:
            var fields = try ElementReader(ASN1Node.read(value))
            isCertificateAuthority = try fields.optional(.boolean)?.primitive().contains { $0 != 0 } ?? false
        case [2, 5, 29, 30]: nameConstraints = value
        case [2, 5, 29, 32]: policies = (try? Self.policies(ASN1Node.read(value))) ?? []
        case [2, 5, 29, 35]:
            var fields = try ElementReader(ASN1Node.read(value))
            authorityKeyIdentifier = try fields.optional(.context(0))?.octets()
        case [2, 5, 29, 37]:
            extendedKeyUsages = try ElementReader(ASN1Node.read(value)).remaining.map { "\(try $0.objectIdentifier())" }
        case SMIMECapability.attribute:
            if value.count <= 4096, (try? SMIMECapability.list(value)) != nil { capabilities = value }
        default: break
        }
    }

    /// Adds the parts of an extension that must be compared. For an unreadable extension, adds the largest number of parts
    /// that it could contain.
    private mutating func count(_ type: ASN1ObjectIdentifier, _ value: [UInt8]) {
        func count(_ read: (ASN1Node) throws -> Int) -> Int { (try? read(ASN1Node.read(value))) ?? value.count / 2 }
        switch type {
        case [2, 5, 29, 17]:
            comparedParts.names = count { try ElementReader($0).remaining.count }
            comparedParts.nameBytes = value.count
        case [2, 5, 29, 30]:
            comparedParts.constraints = count { try $0.children().reduce(0) { try $0 + $1.children().count } }
            comparedParts.constraintBytes = value.count
        case [2, 5, 29, 31]:
            comparedParts.points = count { points in
                try points.children().reduce(0) { try $0 + DistributionPointNames.count(in: $1) }
            }
        // Policies and their mappings.
        case [2, 5, 29, 32], [2, 5, 29, 33]:
            comparedParts.policies += count { try ElementReader($0).remaining.count }
        default: break
        }
    }

    private static func policies(_ node: ASN1Node) throws -> [String] {
        try ElementReader(node).remaining.prefix(Certificate.maximumNames).map { information in
            var fields = try ElementReader(information)
            return "\(try fields.next(.objectIdentifier).objectIdentifier())"
        }
    }

    private static func keyUsage(_ node: ASN1Node) throws -> KeyUsage {
        guard node.identifier == .bitString else { throw ElementReader.Mismatch(description: "key usage") }
        var usage: UInt16 = 0
        // The first octet is the number of unused bits, which are zero.
        for (index, byte) in try node.primitive().dropFirst().prefix(2).enumerated() {
            for bit in 0..<8 where byte >> (7 - bit) & 1 == 1 { usage |= 1 << UInt16(8 * index + bit) }
        }
        return KeyUsage(rawValue: usage)
    }

    private mutating func readAlternativeNames(_ node: ASN1Node) throws {
        for name in try ElementReader(node).remaining {
            if name.identifier == .context(1) {
                let bytes = try name.octets()
                add(bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil)
            } else if name.identifier == .context(0) {
                var fields = try ElementReader(name, .context(0))
                guard try fields.next(.objectIdentifier).objectIdentifier() == Self.smtpUTF8Mailbox else { continue }
                let value = try fields.next(.context(0)).onlyChild()
                let address = value.identifier == .utf8String ? value.directoryString : nil
                if let address { internationalAddresses.append(address) }
                add(address)
            }
        }
    }

    private mutating func add(_ address: String?) {
        hasAddress = true
        guard let address, Self.isFit(address) else {
            hasMalformedAddress = true
            return
        }
        addresses.append(address)
    }

    /// id-on-SmtpUTF8Mailbox (RFC 9598 §3).
    private static let smtpUTF8Mailbox: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 8, 9]

    /// Whether `address` is not empty and has no characters that are unsafe to display. NUL, line breaks and other control
    /// characters have been used to deceive comparisons.
    static func isFit(_ address: String) -> Bool {
        !address.isEmpty && !address.unicodeScalars.contains { $0.isUnsafeToDisplay }
    }
}

/// The allowed uses of a certificate's key.
///
/// RFC 5280 §4.2.1.3
public struct KeyUsage: OptionSet, Hashable, Sendable {
    /// Bit `i` is bit `i` of the extension's BIT STRING.
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The key signs anything except certificates and revocation lists.
    public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    /// The key signs content that the signer must not be able to deny later. Called contentCommitment since X.509 (2005).
    public static let nonRepudiation = KeyUsage(rawValue: 1 << 1)
    /// The key encrypts other keys, as RSA does in CMS.
    public static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
    /// The key encrypts data directly, without a second key.
    public static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
    /// The key is used for key agreement, as elliptic-curve keys are in CMS.
    public static let keyAgreement = KeyUsage(rawValue: 1 << 4)
    /// The key signs certificates.
    public static let keyCertSign = KeyUsage(rawValue: 1 << 5)
    /// The key signs revocation lists.
    public static let cRLSign = KeyUsage(rawValue: 1 << 6)
    /// With `keyAgreement`: the key may only encrypt.
    public static let encipherOnly = KeyUsage(rawValue: 1 << 7)
    /// With `keyAgreement`: the key may only decrypt.
    public static let decipherOnly = KeyUsage(rawValue: 1 << 8)
}

extension KeyUsage: CustomStringConvertible {
    public var description: String {
        let names = [
            "digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement", "keyCertSign",
            "cRLSign", "encipherOnly", "decipherOnly",
        ]
        return names.indices.filter { rawValue >> $0 & 1 == 1 }.map { names[$0] }.joined(separator: ", ")
    }
}

/// The names in a DistributionPoint or IssuingDistributionPoint.
///
/// RFC 5280 §4.2.1.13, §5.2.5
enum DistributionPointNames {
    /// The number of names in the distribution point; the point itself counts as one.
    static func count(in point: ASN1Node) throws -> Int {
        try point.children().reduce(1) { count, field in
            // distributionPoint and, in a certificate, cRLIssuer contain names; the other fields are bit strings.
            guard case .constructed = field.content else { return count }
            let names = try Array(field.children())
            guard field.identifier == .context(0), let name = names.first else { return count + names.count }
            return try count + Array(name.children()).count
        }
    }

    /// The number of names in the issuingDistributionPoint of a list; 0 if the list has none. For an extension of more
    /// than 64 KiB, the result is greater than `CertificateList.maximumNames`. The list's extensions begin at `start`.
    static func count(inListExtensions der: [UInt8], at start: Int) throws -> Int {
        guard let list = try ElementExtent.elements(of: der, at: start, limit: 1).first else { return 0 }
        let extensions = try ElementExtent.elements(of: der, at: list.range.lowerBound, limit: maximumExtensions + 1)
        guard extensions.count <= maximumExtensions else { throw CMSError.limitExceeded("extensions of a list") }
        for item in extensions {
            let fields = try ElementExtent.elements(of: der, at: item.range.lowerBound, limit: 3)
            guard let type = fields.first, der[type.range] == identifier[...], let value = fields.last else { continue }
            guard value.range.count <= maximumBytes else { return maximumBytes }
            return try count(in: ASN1Node.read(ASN1Node.read(der[value.range]).octets()))
        }
        return 0
    }

    /// The encoding of the OID id-ce-issuingDistributionPoint.
    private static let identifier: [UInt8] = [0x06, 0x03, 0x55, 0x1D, 0x1C]
    private static let maximumExtensions = 100
    private static let maximumBytes = 1 << 16
}
