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
