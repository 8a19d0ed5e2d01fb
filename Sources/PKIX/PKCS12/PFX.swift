import LibCrypto
import SwiftASN1

/// The outer structure of a PKCS#12 file, which is readable without the passphrase.
///
/// RFC 7292 §4
struct PFX {
    /// A ContentInfo of the AuthenticatedSafe.
    enum Safe {
        case encrypted(PasswordEncryption, ciphertext: [UInt8])
        case plain([SafeBag])
        /// A part that cannot be opened; the payload is its content type or the reason.
        case unsupported(String)
    }

    let safes: [Safe]
    /// The MAC; nil if the file has no MAC.
    let mac: PKCS12MAC?
    /// The content octets that the MAC authenticates.
    let authenticated: [UInt8]
    /// Whether other bytes follow the structure.
    let hasTrailingBytes: Bool

    /// The maximum size of a file in bytes.
    static let maximumCount = 16 << 20

    init(_ bytes: [UInt8]) throws {
        guard bytes.count <= Self.maximumCount else { throw CMSError.limitExceeded("PKCS#12 size") }
        guard let first = bytes.first else { throw ElementReader.Mismatch(description: "it is empty") }
        guard first == 0x30 else {
            throw ElementReader.Mismatch(description: "it is no PKCS#12 file, neither in DER nor in PEM")
        }
        let count = try ElementExtent(of: bytes).count
        hasTrailingBytes = count < bytes.count
        var fields = try ElementReader(BER.parse(bytes[..<count]))
        guard try fields.next(.integer).integer() == 3 else {
            throw ElementReader.Mismatch(description: "not version 3")
        }
        var content = try ElementReader(fields.next(.sequence))
        let type = try content.next(.objectIdentifier).objectIdentifier()
        guard type == ASN1ObjectIdentifier.ContentType.data else {
            throw CMSError.unsupported("PKCS#12 protected by public keys")
        }
        authenticated = try content.next(.context(0)).onlyChild().octets()
        mac = try fields.optional(.sequence).map { try PKCS12MAC($0) }
        safes = try ElementReader(ASN1Node.read(authenticated)).remaining.map { try Safe($0) }
    }
}

extension PFX.Safe {
    init(_ node: ASN1Node) throws {
        var fields = try ElementReader(node)
        switch try fields.next(.objectIdentifier).objectIdentifier() {
        case ASN1ObjectIdentifier.ContentType.data:
            let octets = try fields.next(.context(0)).onlyChild().octets()
            self = .plain(try SafeBag.list(octets))
        case ASN1ObjectIdentifier.ContentType.encryptedData:
            var encrypted = try ElementReader(fields.next(.context(0)).onlyChild())
            _ = try encrypted.next(.integer)
            var info = try ElementReader(encrypted.next(.sequence))
            _ = try info.next(.objectIdentifier)
            let algorithm = try AlgorithmIdentifier(berEncoded: info.next(.sequence))
            let ciphertext = try info.next(.context(0)).octets()
            do {
                self = .encrypted(try PasswordEncryption(algorithm), ciphertext: ciphertext)
            } catch CMSError.unsupported(
                let name
            ) { self = .unsupported(name) }
        case let type: self = .unsupported("content \(type)")
        }
    }
}

/// One bag of a PKCS#12 file: a key, a certificate, a revocation list, or further bags.
///
/// RFC 7292 §4.2
struct SafeBag {
    enum Content {
        case certificate([UInt8])
        case certificateList([UInt8])
        case encryptedKey(PasswordEncryption, ciphertext: [UInt8])
        case key(SecretBytes)
        case bags([SafeBag])
        /// A bag that cannot be opened; the payload is its type or the reason.
        case unsupported(String)
    }

    let content: Content
    /// The name as written in the file. It is not escaped and must be escaped before display.
    let friendlyName: String?

    /// The maximum nesting of safeContentsBags.
    static let maximumDepth = 8

    /// Reads SafeContents.
    static func list(_ encoded: [UInt8]) throws -> [SafeBag] {
        try list(ASN1Node.read(encoded), depth: 0)
    }

    private static func list(_ node: ASN1Node, depth: Int) throws -> [SafeBag] {
        guard depth <= maximumDepth else { throw CMSError.limitExceeded("nested PKCS#12 bags") }
        return try ElementReader(node).remaining.map { try SafeBag($0, depth: depth) }
    }

    private init(_ node: ASN1Node, depth: Int) throws {
        var fields = try ElementReader(node)
        let type = try fields.next(.objectIdentifier).objectIdentifier()
        let value = try fields.next(.context(0)).onlyChild()
        friendlyName = try fields.optional(.set).flatMap { try Self.friendlyName($0) }
        switch type {
        case [1, 2, 840, 113549, 1, 12, 10, 1, 1]:
            let encoded = value.encodedBytes
            content = .key(SecretBytes(copying: encoded))
        case [1, 2, 840, 113549, 1, 12, 10, 1, 2]:
            var info = try ElementReader(value)
            let algorithm = try AlgorithmIdentifier(berEncoded: info.next(.sequence))
            let ciphertext = try info.next(.octetString).octets()
            content = try Self.recognized { .encryptedKey(try PasswordEncryption(algorithm), ciphertext: ciphertext) }
        case [1, 2, 840, 113549, 1, 12, 10, 1, 3]:
            content =
                try Self.value(value, type: [1, 2, 840, 113549, 1, 9, 22, 1]).map { .certificate($0) }
                ?? .unsupported("certificate that is not X.509")
        case [1, 2, 840, 113549, 1, 12, 10, 1, 4]:
            content =
                try Self.value(value, type: [1, 2, 840, 113549, 1, 9, 23, 1]).map { .certificateList($0) }
                ?? .unsupported("revocation list that is not X.509")
        case [1, 2, 840, 113549, 1, 12, 10, 1, 6]: content = .bags(try Self.list(value, depth: depth + 1))
        default: content = .unsupported("bag \(type)")
        }
    }

    private static func recognized(_ body: () throws -> Content) throws -> Content {
        do { return try body() } catch CMSError.unsupported(let name) { return .unsupported(name) }
    }

    /// The OCTET STRING of a CertBag or CRLBag of the given type; nil if the bag has another type.
    private static func value(_ node: ASN1Node, type: ASN1ObjectIdentifier) throws -> [UInt8]? {
        var fields = try ElementReader(node)
        guard try fields.next(.objectIdentifier).objectIdentifier() == type else { return nil }
        return try fields.next(.context(0)).onlyChild().octets()
    }

    private static func friendlyName(_ attributes: ASN1Node) throws -> String? {
        for attribute in try attributes.children() {
            var fields = try ElementReader(attribute)
            guard try fields.next(.objectIdentifier).objectIdentifier() == [1, 2, 840, 113549, 1, 9, 20] else {
                continue
            }
            return try fields.next(.set).children().first?.directoryString
        }
        return nil
    }
}
