import LibCrypto
import SwiftASN1

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
