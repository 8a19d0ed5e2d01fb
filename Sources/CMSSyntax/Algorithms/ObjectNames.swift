import LibCrypto
import PKIX
package import SwiftASN1

extension ASN1ObjectIdentifier {
    /// The name in reports; the dotted OID if there is no name.
    var displayName: String { Self.names[self] ?? algorithmName }

    /// The names of objects that appear in reports and have no table of their own.
    private static let names: [ASN1ObjectIdentifier: String] = contentTypes.merging(attributes) { first, _ in first }
        .merging(algorithms) { first, _ in first }

    private static let contentTypes: [ASN1ObjectIdentifier: String] = [
        ContentType.data: "data", ContentType.signedData: "signed-data", ContentType.envelopedData: "enveloped-data",
        ContentType.digestedData: "digested-data", ContentType.encryptedData: "encrypted-data",
        ContentType.authenticatedData: "authenticated-data", ContentType.compressedData: "compressed-data",
        ContentType.authEnvelopedData: "authenveloped-data",
        [1, 2, 840, 113549, 1, 9, 16, 1, 1]: "receipt", [1, 2, 840, 113549, 1, 9, 16, 1, 4]: "timestamp-token",
        [1, 2, 840, 113549, 1, 9, 16, 1, 6]: "content-info",
    ]

    private static let attributes: [ASN1ObjectIdentifier: String] = [
        CMSAttribute.contentType: "contentType", CMSAttribute.messageDigest: "messageDigest",
        CMSAttribute.signingTime: "signingTime", CMSAttribute.countersignature: "countersignature",
        CMSAttribute.smimeCapabilities: "smimeCapabilities",
        CMSAttribute.encryptionKeyPreference: "smimeEncryptionKeyPreference",
        CMSAttribute.signingCertificate: "signingCertificate",
        CMSAttribute.signingCertificateV2: "signingCertificateV2",
        [1, 2, 840, 113549, 1, 9, 15, 1]: "preferSignedData", [1, 2, 840, 113549, 1, 9, 52]: "cmsAlgorithmProtection",
        [1, 2, 840, 113549, 1, 9, 16, 2, 1]: "receiptRequest", [1, 2, 840, 113549, 1, 9, 16, 2, 2]: "securityLabel",
        [1, 2, 840, 113549, 1, 9, 16, 2, 3]: "mlExpandHistory", [1, 2, 840, 113549, 1, 9, 16, 2, 4]: "contentHint",
        [1, 2, 840, 113549, 1, 9, 16, 2, 5]: "msgSigDigest", [1, 2, 840, 113549, 1, 9, 16, 2, 7]: "contentIdentifier",
        [1, 2, 840, 113549, 1, 9, 16, 2, 9]: "equivalentLabels",
        [1, 2, 840, 113549, 1, 9, 16, 2, 10]: "contentReference",
        [1, 2, 840, 113549, 1, 9, 16, 2, 14]: "signatureTimeStampToken",
        [1, 3, 6, 1, 4, 1, 311, 16, 4]: "microsoftRecipientInfo",
    ]

    private static let algorithms: [ASN1ObjectIdentifier: String] = [
        [1, 3, 132, 1, 11, 0]: "ecdh-sha224-kdf", [1, 3, 132, 1, 11, 1]: "ecdh-sha256-kdf",
        [1, 3, 132, 1, 11, 2]: "ecdh-sha384-kdf", [1, 3, 132, 1, 11, 3]: "ecdh-sha512-kdf",
        [1, 3, 133, 16, 840, 63, 0, 2]: "ecdh-sha1-kdf",
        [1, 2, 840, 113549, 1, 9, 16, 3, 19]: "ecdh-hkdf-sha256",
        [1, 2, 840, 113549, 1, 9, 16, 3, 20]: "ecdh-hkdf-sha384",
        [1, 2, 840, 113549, 1, 9, 16, 3, 21]: "ecdh-hkdf-sha512",
        [1, 3, 14, 3, 2, 7]: "des-cbc",
        [1, 2, 840, 113549, 3, 4]: "rc4", [1, 2, 840, 113533, 7, 66, 10]: "cast5-cbc",
        [2, 16, 840, 1, 101, 3, 4, 1, 5]: "aes-128-wrap", [2, 16, 840, 1, 101, 3, 4, 1, 25]: "aes-192-wrap",
        [2, 16, 840, 1, 101, 3, 4, 1, 45]: "aes-256-wrap", [1, 2, 840, 113549, 1, 9, 16, 3, 6]: "des-ede3-wrap",
        [1, 2, 840, 113549, 1, 9, 16, 3, 7]: "rc2-wrap",
        [1, 2, 840, 113549, 1, 9, 16, 3, 9]: "pwri-kek", [1, 2, 840, 113549, 1, 9, 16, 3, 5]: "ssdh",
        [1, 2, 840, 113549, 1, 9, 16, 3, 8]: "zlib", Key.rsaOAEP: "rsa-oaep",
    ]
}

extension AlgorithmIdentifier {
    /// The name of the algorithm or cipher; the dotted OID if it is unknown.
    var displayName: String {
        ContentCipher(oid: algorithm)?.name ?? algorithm.displayName
    }
}

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
