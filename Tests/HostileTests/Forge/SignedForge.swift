import Foundation

/// A SignerInfo in preparation; every part can be changed.
struct SignerForge {
    var person: Person
    var version = 1
    var identifier: [UInt8]
    /// The digest for content and attributes.
    var digest = "SHA256"
    /// The digestAlgorithm; nil uses that of `digest`.
    var claimedDigest: [UInt8]?
    var signatureAlgorithm = TLV.sequence(TLV.oid(OID.rsa), TLV.null)
    var padding = AttackerKey.Padding.pkcs1
    /// Makes the signed attributes from the content's digest; nil for a signature over the content itself.
    var signedAttributes: (([UInt8]) throws -> [[UInt8]])?
    var unsignedAttributes: [[UInt8]] = []
    /// Modifies the encoded attributes after they were signed.
    var attributesAfterwards: ([UInt8]) -> [UInt8] = { $0 }
    /// Modifies the signature value.
    var signatureAfterwards: ([UInt8]) -> [UInt8] = { $0 }

    init(_ person: Person) {
        self.person = person
        identifier = person.issuerAndSerial
        signedAttributes = { Attributes.usual($0) }
    }

    /// Identifies the certificate by its key identifier.
    mutating func useKeyIdentifier() {
        version = 3
        identifier = TLV.element(0x80, person.keyIdentifier)
    }

    func encoded(over content: [UInt8]) throws -> [UInt8] {
        let value = try Attacker.digest(content, digest)
        let attributes = try signedAttributes.map { TLV.sortedSet(try $0(value)) }
        // Ed25519 does its own hashing.
        let isPure = signatureAlgorithm == TLV.sequence(TLV.oid("1.3.101.112"))
        let signature = try person.key.sign(attributes ?? content, digest: isPure ? nil : digest, padding: padding)
        return TLV.sequence(
            TLV.integer(version),
            identifier,
            claimedDigest ?? OID.digest(digest),
            attributes.map { TLV.element(0xA0, TLV.contents(attributesAfterwards($0))) } ?? [],
            signatureAlgorithm,
            TLV.octets(signatureAfterwards(signature)),
            unsignedAttributes.isEmpty ? [] : TLV.sortedSet(unsignedAttributes, tag: 0xA1)
        )
    }
}

/// Signed and unsigned attributes.
enum Attributes {
    static func make(_ oid: String, _ values: [UInt8]...) -> [UInt8] { TLV.sequence(TLV.oid(oid), TLV.set(values)) }

    static func contentType(_ oid: String = OID.data) -> [UInt8] { make(OID.contentType, TLV.oid(oid)) }
    static func digest(_ value: [UInt8]) -> [UInt8] { make(OID.messageDigest, TLV.octets(value)) }
    static func time(_ digits: String = "261101000000Z") -> [UInt8] { make(OID.signingTime, TLV.time(digits)) }
    static let capabilities = make(
        OID.smimeCapabilities,
        TLV.sequence(TLV.sequence(TLV.oid(OID.aes256CBC)), TLV.sequence(TLV.oid(OID.aes128CBC)))
    )
    /// - Parameter name: issuer and serial number in the certificate's own encoding; nil omits them.
    static func signingCertificate(
        _ certificate: [UInt8],
        name: (issuer: [UInt8], serialNumber: [UInt8])? = nil
    ) throws -> [UInt8] {
        let issuerSerial = name.map { name in
            TLV.sequence(TLV.sequence(TLV.explicit(4, name.issuer)), TLV.element(0x02, name.serialNumber))
        }
        let identifier = TLV.sequence(TLV.octets(try Attacker.digest(certificate, "SHA256")), issuerSerial ?? [])
        return make(OID.signingCertificateV2, TLV.sequence(TLV.sequence(identifier)))
    }

    static func usual(_ value: [UInt8]) -> [[UInt8]] { [contentType(), digest(value), time(), capabilities] }
}

/// A SignedData in preparation.
struct SignedForge {
    var version = 1
    var digestAlgorithms: [[UInt8]] = [OID.digest("SHA256")]
    var contentType = OID.data
    /// The embedded content; nil for a detached signature.
    var content: [UInt8]?
    /// The `[0]` element with the content, if it is to be written differently.
    var rawContent: [UInt8]?
    /// The bytes that are signed, if they differ from the embedded content.
    var signed: [UInt8]
    var certificates: [[UInt8]]
    var lists: [[UInt8]] = []
    var signers: [SignerForge]

    /// Signs `entity` as `person`, detached or with embedded content.
    init(_ entity: [UInt8], by person: Person, isDetached: Bool = true) {
        signed = entity
        content = isDetached ? nil : entity
        certificates = [person.certificate] + person.chain
        signers = [SignerForge(person)]
    }

    func encoded() throws -> [UInt8] {
        let inner = rawContent ?? content.map { TLV.explicit(0, TLV.octets($0)) } ?? []
        let infos = try signers.map { try $0.encoded(over: signed) }
        return TLV.sequence(
            TLV.oid(OID.signedData),
            TLV.explicit(
                0,
                TLV.sequence(
                    TLV.integer(version),
                    TLV.set(digestAlgorithms),
                    TLV.sequence(TLV.oid(contentType), inner),
                    certificates.isEmpty ? [] : TLV.element(0xA0, certificates.flatMap { $0 }),
                    lists.isEmpty ? [] : TLV.element(0xA1, lists.flatMap { $0 }),
                    TLV.set(infos)
                )
            )
        )
    }
}
