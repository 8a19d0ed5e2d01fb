package import SwiftASN1

/// The object identifiers of CMS and S/MIME that are not a row of an algorithm table.
extension ASN1ObjectIdentifier {
    /// CMS content types (RFC 5652 §4-9, RFC 5083, RFC 3274).
    package enum ContentType {
        package static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
        package static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
        package static let envelopedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 3]
        package static let digestedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 5]
        package static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 6]
        package static let authenticatedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 1, 2]
        package static let compressedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 1, 9]
        package static let authEnvelopedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 1, 23]
    }

    /// CMS attributes (RFC 5652 §11, RFC 8551 §2.5, RFC 5035, RFC 2634).
    package enum CMSAttribute {
        package static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 3]
        package static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 4]
        package static let signingTime: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 5]
        package static let countersignature: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 6]
        package static let smimeCapabilities: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 15]
        package static let encryptionKeyPreference: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 2, 11]
        package static let signingCertificate: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 2, 12]
        package static let signingCertificateV2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 2, 47]
    }

    /// Key types and the algorithms that only wrap others.
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
    /// The identifier of the object that `dotted` names, or nil.
    package init?(dotted: String) {
        guard let oid = try? ASN1ObjectIdentifier(dotRepresentation: dotted) else { return nil }
        self = oid
    }
}
