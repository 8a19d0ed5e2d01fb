import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import SMIME

/// A certificate in a file or message. Trust is not judged.
struct CertificateOutput: Encodable {
    let subject: String
    let issuer: String
    let serial: String
    let addresses: [String]
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date
    /// Whether the certificate is valid at the validation time.
    let current: Bool
    let key: String
    let signature: String
    let authority: Bool
    let keyUsage: String?
    let extendedKeyUsages: [String]?
    let keyIdentifier: String?
    /// Whether the file contains the certificate's private key; nil if that is unknown.
    let hasKey: Bool?

    init(_ certificate: Certificate, at time: Date, hasKey: Bool? = nil) {
        self.hasKey = hasKey
        subject = certificate.subject.description
        issuer = certificate.issuer.description
        serial = certificate.serialNumber.hexadecimal
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
        current = certificate.isValid(at: time)
        key = certificate.publicKeyAlgorithm.description
        signature = certificate.signatureAlgorithm
        authority = certificate.isCertificateAuthority
        keyUsage = certificate.keyUsage?.description
        extendedKeyUsages = certificate.extendedKeyUsages
        keyIdentifier = certificate.subjectKeyIdentifier?.hexadecimal
    }
}

/// A revocation list.
struct CertificateListOutput: Encodable {
    let issuer: String
    let fingerprint: Fingerprint
    let thisUpdate: Date
    let nextUpdate: Date?
    /// Whether, at the validation time, the list is in effect and the next list is not yet due.
    let current: Bool

    init(_ list: CertificateList, at time: Date) {
        issuer = list.issuer.description
        fingerprint = list.fingerprint
        thisUpdate = list.thisUpdate
        nextUpdate = list.nextUpdate
        current = list.isCurrent(at: time)
    }
}

/// A private key, of which only the encryption is reported.
struct PrivateKeyOutput: Encodable {
    let encrypted: Bool
}

/// A SafeContents of a PKCS#12 file (RFC 7292 §4.2).
struct SafeOutput: Encodable {
    /// The encryption of the SafeContents; absent if it is not encrypted.
    let encryption: String?
    let bags: [Bag]
    let keyEncryptions: [String]

    /// The number of bags of one kind.
    struct Bag: Encodable {
        let kind: String
        let count: Int
    }

    init(_ part: PKCS12Outline.Part) {
        encryption = part.encryption
        bags = part.bags.sorted { $0.key < $1.key }.map { Bag(kind: $0.key, count: $0.value) }
        keyEncryptions = part.keyEncryptions
    }
}

extension [KeyMaterial] {
    var certificates: [Certificate] {
        compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
    }

    var certificateLists: [CertificateList] {
        compactMap { if case .certificateList(let list) = $0 { list } else { nil } }
    }

    var privateKeys: [EncodedPrivateKey] {
        compactMap { if case .privateKey(let key) = $0 { key } else { nil } }
    }
}

extension CertificateList {
    /// Whether `time` is between thisUpdate and nextUpdate. A list without nextUpdate stays current.
    func isCurrent(at time: Date) -> Bool { thisUpdate <= time && nextUpdate.map { time <= $0 } ?? true }
}

extension Inspection {
    /// The kind of file as reports name it.
    var kind: String {
        switch subject {
        case .certificates: "certificates"
        case .cms: "cms"
        case .message: "message"
        case .pkcs12: "pkcs12"
        }
    }
}

extension CMSOutline {
    /// The layer's type as `verify` reports it; the type's own name if `verify` has none for it.
    var layerType: String {
        switch type {
        case .authEnvelopedData: "authenticated-encrypted"
        case .compressedData: "compressed"
        case .envelopedData: "encrypted"
        case .signedData where !isCertificatesOnly: "signed"
        default: typeName
        }
    }

    /// The layer's algorithm as `verify` reports it: the algorithm of the signatures, or of the object.
    var layerAlgorithm: String {
        (type == .signedData ? signers.map(\.signatureName) : algorithms).joined(separator: ", ")
    }
}
