package import LibCrypto
import SwiftASN1

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An X.509 certificate: an immutable, well-formed value that has not been verified.
///
/// `TrustStore.judge` decides whether it can be trusted. RFC 5280 §4
public struct Certificate: Sendable {
    /// The encoding as it was received.
    public let der: [UInt8]
    /// The SHA-256 of `der`.
    public let fingerprint: Fingerprint
    /// The name of the owner; empty if only subjectAltName names the owner.
    public let subject: DistinguishedName
    /// The name of the signer.
    public let issuer: DistinguishedName
    /// The content octets of the INTEGER as it was encoded.
    public let serialNumber: [UInt8]
    /// The first second in which the certificate is valid.
    public let notBefore: Date
    /// The last second in which the certificate is valid.
    public let notAfter: Date
    /// The mail addresses of the subject as written in the certificate: the addresses in the subject alternative name; if it
    /// contains none, those in the distinguished name.
    ///
    /// RFC 8550 §3, RFC 9598
    package let addresses: [String]
    /// Whether an address was left out of `addresses` because it is empty, or contains control characters or disallowed
    /// non-ASCII characters.
    package let hasMalformedAddress: Bool
    /// The addresses of type SmtpUTF8Mailbox (RFC 9598).
    let internationalAddresses: [String]
    /// The numbers of names, constraints, policies and other parts that are compared with other certificates and with lists.
    let comparedParts: ComparedParts
    /// The allowed uses of the key; nil if the extension is absent.
    public let keyUsage: KeyUsage?
    /// The extended key usages as dotted OIDs; nil if the extension is absent.
    public let extendedKeyUsages: [String]?
    /// Whether basicConstraints marks the certificate as that of an authority.
    public let isCertificateAuthority: Bool
    /// The identifier of the certificate's key (RFC 5280 §4.2.1.2); nil if that extension is absent.
    package let subjectKeyIdentifier: [UInt8]?
    /// The identifier of the issuer's key (RFC 5280 §4.2.1.1); nil if the certificate does not contain it.
    package let authorityKeyIdentifier: [UInt8]?
    /// The DER of the SMIMECapabilities in the certificate (RFC 4262); nil if absent or unreadable.
    package let capabilitiesEncoding: [UInt8]?
    /// The dotted OIDs of the first `maximumNames` certificate policies (RFC 5280 §4.2.1.4); empty if they are unreadable.
    let policies: [String]
    /// The encoding of the NameConstraints, which may be malformed; nil if that extension is absent.
    let nameConstraints: [UInt8]?
    /// The DER of the SubjectPublicKeyInfo.
    package let publicKeyInfo: [UInt8]
    /// The SHA-256 of the public key; the same for every certificate of that key.
    package let publicKeyDigest: PublicKeyDigest
    /// The kind and size of the public key.
    public let publicKeyAlgorithm: PublicKeyAlgorithm
    /// The name of the algorithm of the issuer's signature, or its dotted OID.
    package let signatureAlgorithm: String
    /// The parsed form of `addresses`, made by the module that parses mail addresses. It is cached, because it is needed for
    /// each signature of a message.
    package private(set) var parsedAddresses = SharedValue()

    /// The maximum size of a certificate in bytes.
    package static let maximumCount = 1 << 20

    /// Parses `der`, which must be exactly one certificate.
    ///
    /// Unreadable policies, name constraints and SMIMECapabilities are not an error here.
    ///
    /// - Throws: `CMSError.malformed` if the certificate is not in DER (in BER, one certificate could have two fingerprints),
    ///   or if another extension that this initializer reads is malformed; `.limitExceeded` if the certificate is larger than
    ///   `maximumCount`; `.openSSL` if libcrypto cannot compute a digest. RFC 5280 §4.1
    package init(der: [UInt8]) throws(CMSError) {
        guard der.count <= Self.keptCount else {
            self = try Self(parsing: der)
            return
        }
        self = try Self.recent.value(for: EncodingKey(bytes: der)) { () throws(CMSError) in try Self(parsing: der) }
    }

    private static let recent = BoundedCache<EncodingKey, Certificate>(capacity: 256)

    /// The size in bytes of the largest certificate that is cached, so that input cannot exhaust the memory.
    static let keptCount = 8 << 10

    private init(parsing der: [UInt8]) throws(CMSError) {
        guard der.count <= Self.maximumCount else { throw .limitExceeded("certificate size") }
        let fields = try parsing(.certificate) { try CertificateFields(der) }
        let extensions = try parsing(.certificate) { try CertificateExtensions(fields.extensions) }
        self.der = der
        fingerprint = try Fingerprint(of: der)
        (subject, issuer) = (fields.subject, fields.issuer)
        serialNumber = fields.serialNumber
        (notBefore, notAfter) = (fields.notBefore, fields.notAfter)
        publicKeyInfo = fields.publicKeyInfo
        publicKeyAlgorithm = try parsing(.certificate) { try PublicKeyAlgorithm(publicKeyInfo: fields.publicKeyInfo) }
        publicKeyDigest = try PublicKeyDigest(of: fields.publicKeyInfo, publicKeyAlgorithm)
        signatureAlgorithm = CertificateSignature.name(fields.signatureAlgorithm)
        internationalAddresses = extensions.internationalAddresses
        comparedParts = Self.comparedParts(extensions, subject: fields.subject, issuer: fields.issuer)
        (keyUsage, extendedKeyUsages) = (extensions.keyUsage, extensions.extendedKeyUsages)
        isCertificateAuthority = extensions.isCertificateAuthority
        policies = extensions.policies
        subjectKeyIdentifier = extensions.subjectKeyIdentifier
        authorityKeyIdentifier = extensions.authorityKeyIdentifier
        (capabilitiesEncoding, nameConstraints) = (extensions.capabilities, extensions.nameConstraints)
        let named = extensions.hasAddress ? extensions.addresses : subject.emailAddresses
        addresses = named.filter(CertificateExtensions.isFit)
        hasMalformedAddress = extensions.hasMalformedAddress || addresses.count < named.count
    }

    private static func comparedParts(
        _ extensions: CertificateExtensions,
        subject: DistinguishedName,
        issuer: DistinguishedName
    ) -> ComparedParts {
        var parts = extensions.comparedParts
        parts.names += subject.relativeNames.reduce(0) { $0 + $1.count }
        parts.nameBytes += subject.der.count
        // Distribution points may be named relative to the issuer; libcrypto then copies the issuer's whole name for each
        // distribution point.
        parts.points *= 1 + issuer.der.count >> 13
        return parts
    }

    /// Whether subject and issuer are equal, as in a root certificate.
    public var isSelfIssued: Bool { subject.matches(issuer) }

    /// The SHA-256 of issuer and serial number. Unlike the fingerprint, this digest stays the same if the certificate's
    /// signature is replaced by another valid signature, which is possible with ECDSA. Certificates of different
    /// authorities with the same name can have the same digest.
    package var nameDigest: Fingerprint {
        get throws(CMSError) { try Fingerprint(of: issuer.canonical.bytes + serialNumber) }
    }

    /// Whether `date` is within the validity period, including its first and last second.
    public func isValid(at date: Date) -> Bool { hasBegun(at: date) && !hasEnded(at: date) }

    /// Whether the validity period has begun at `date`; false for a time that is not a number.
    package func hasBegun(at date: Date) -> Bool { notBefore.isNoLater(than: date) }

    /// Whether the validity period has ended at `date`; true for a time that is not a number.
    package func hasEnded(at date: Date) -> Bool { !date.isNoLater(than: notAfter) }
}

extension Date {
    /// Whether this time is earlier than `other`, or the same; false if one of them is not a number. (`<=` is true then,
    /// because it is defined as the negation of `>`.)
    package func isNoLater(than other: Date) -> Bool { self < other || self == other }
}

extension Certificate: Hashable {
    public static func == (a: Certificate, b: Certificate) -> Bool { a.der == b.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

extension Certificate {
    /// Whether the certificate may sign mail: its key usage, purpose and kind of key allow signing, and the certificate is
    /// not a CA certificate.
    ///
    /// RFC 8550 §4.4
    public var canSign: Bool { allowsSigning && isForMail }

    /// Whether the key and its usage allow signatures, for mail or for other objects, and the certificate is not an
    /// authority's.
    package var allowsSigning: Bool {
        publicKeyAlgorithm.canSign && !isCertificateAuthority
            && (keyUsage.map { !$0.isDisjoint(with: [.digitalSignature, .nonRepudiation]) } ?? true)
    }

    /// Whether mail may be encrypted to the certificate.
    public var canEncrypt: Bool { !isCertificateAuthority && keyAllowsEncryption }

    /// Whether purpose, key usage and kind of key allow encryption. This may be true for a CA certificate:
    /// basicConstraints only extend the allowed uses (RFC 5280 §4.2.1.9), and self-signed certificates often contain them
    /// unnecessarily.
    package var keyAllowsEncryption: Bool { isForMail && keyUsageAllowsEncryption }

    /// Whether the extended key usage allows S/MIME: the extension contains emailProtection or anyExtendedKeyUsage, or is
    /// absent.
    ///
    /// RFC 8550 §4.4.4
    package var isForMail: Bool {
        guard let extendedKeyUsages else { return true }
        return extendedKeyUsages.contains("1.3.6.1.5.5.7.3.4") || extendedKeyUsages.contains("2.5.29.37.0")
    }

    private var keyUsageAllowsEncryption: Bool {
        switch publicKeyAlgorithm {
        case .rsa: keyUsage?.contains(.keyEncipherment) ?? true
        case .ellipticCurve, .x25519: keyUsage?.contains(.keyAgreement) ?? true
        // RFC 9935 §5
        case .postQuantum(let scheme):
            scheme.use == .keyEncapsulation && scheme.isOffered && keyUsage?.contains(.keyEncipherment) ?? true
        case .dsa, .ed25519, .other, .rsaPSS: false
        }
    }
}

extension Certificate {
    /// A use of the certificate's key.
    @nonexhaustive
    public enum KeyPurpose: Sendable {
        case encryption
        case signing
    }
}

extension Certificate {
    /// The public key as an object of libcrypto.
    package func publicKey() throws(OpenSSLError) -> Handle<EVP_PKEY> {
        guard publicKeyInfo.count <= Self.keptCount else { return try madeKey() }
        return try Self.recentKeys.value(for: EncodingKey(bytes: publicKeyInfo)) { () throws(OpenSSLError) in
            try madeKey()
        }
    }

    private func madeKey() throws(OpenSSLError) -> Handle<EVP_PKEY> {
        if let key = RSAKey(publicKeyInfo: publicKeyInfo) { return key.handle }
        return try Handle(publicKeyInfo: publicKeyInfo)
    }

    private static let recentKeys = BoundedCache<EncodingKey, Handle<EVP_PKEY>>(capacity: 128)

    /// The certificate as an object of libcrypto.
    ///
    /// The object is cached, because libcrypto also decodes the public key, which takes as long as several signatures, and
    /// most chains share a few authorities. An object with a DSA key is used only once, because the verification of a chain
    /// may add the issuer's parameters to the key.
    package func x509() throws(OpenSSLError) -> Handle<X509> {
        guard der.count <= Self.keptCount, !publicKeyAlgorithm.isDSA else { return try madeX509() }
        return try Self.recentObjects.value(for: self) { () throws(OpenSSLError) in try madeX509() }
    }

    private static let recentObjects = BoundedCache<Certificate, Handle<X509>>(capacity: 64)

    private func madeX509() throws(OpenSSLError) -> Handle<X509> { try Handle(certificate: der) }
}

extension Certificate {
    /// Whether an extension that libcrypto evaluates violates RFC 5280 §4.2, for example a key usage without bits or a
    /// negative path length. libcrypto finds neither issuers nor issued certificates of such a certificate.
    var hasMalformedExtension: Bool { (try? x509())?.hasMalformedExtension ?? false }
}
