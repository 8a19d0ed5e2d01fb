package import SwiftASN1

/// Object identifiers of content types and keys that are not in any algorithm table.
extension ASN1ObjectIdentifier {
    /// CMS content types, which also occur in PKCS#12 files and in PKCS#7 files of certificates (RFC 5652 §4-9).
    package enum ContentType {
        package static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
        package static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
        package static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 6]
    }

    /// Key types, RSAES-OAEP and RSASSA-PSS, and the algorithms in their parameters (RFC 4055).
    package enum Key {
        package static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
        package static let rsaOAEP: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 7]
        package static let mgf1: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 8]
        package static let pSpecified: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 9]
        package static let rsaPSS: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 10]
        package static let ellipticCurve: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
        package static let x25519: ASN1ObjectIdentifier = [1, 3, 101, 110]
        package static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]
        package static let dsa: ASN1ObjectIdentifier = [1, 2, 840, 10040, 4, 1]
    }
}

extension ASN1ObjectIdentifier {
    /// Parses a dotted object identifier; nil if it is malformed.
    package init?(dotted: String) {
        guard let oid = try? ASN1ObjectIdentifier(dotRepresentation: dotted) else { return nil }
        self = oid
    }
}
