import PKIX
package import SwiftASN1

extension ASN1ObjectIdentifier {
    /// CMS attributes (RFC 5652 §11, RFC 8551 §2.5, RFC 5035, RFC 2634).
    package enum CMSAttribute {
        package static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 3]
        package static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 4]
        package static let signingTime: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 5]
        package static let countersignature: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 6]
        package static let smimeCapabilities: ASN1ObjectIdentifier = SMIMECapability.attribute
        package static let encryptionKeyPreference: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 2, 11]
        package static let signingCertificate: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 2, 12]
        package static let signingCertificateV2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 2, 47]
    }
}

/// Content types that exist only in CMS (RFC 5652 §4-9, RFC 5083, RFC 3274).
extension ASN1ObjectIdentifier.ContentType {
    package static let envelopedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 3]
    package static let digestedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 5]
    package static let authenticatedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 1, 2]
    package static let compressedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 1, 9]
    package static let authEnvelopedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 1, 23]
}
