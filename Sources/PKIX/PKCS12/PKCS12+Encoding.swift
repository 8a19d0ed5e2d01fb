import ByteStreams
package import LibCrypto
import SwiftASN1

extension PKCS12 {
    /// The programs that must be able to read a written file.
    @nonexhaustive
    public enum Compatibility: String, CaseIterable, Sendable {
        /// Any program that supports PBES2: AES-256-CBC and HMAC-SHA-256, 100,000 iterations of PBKDF2.
        case modern
        /// Old versions of Windows, Java and NSS: triple DES and SHA-1.
        case legacy
        /// The macOS and iOS keychains, which require triple DES with SHA-1 and a name for each identity.
        case macos

        var iterations: Int { self == .modern ? 100_000 : 2048 }
        fileprivate var digest: DigestAlgorithm { self == .modern ? .sha256 : .sha1 }
    }

    /// A PKCS#12 file in DER with the keys and certificates of `identities`. `PKCS12` can read the file.
    ///
    /// - Parameter chain: further certificates. The `chain` of an identity is not written.
    /// - Throws: `CMSError.openSSL` if libcrypto fails or cannot encode a key; `.limitExceeded` if the file would contain
    ///   more than `PKCS12` reads.
    package static func encode(
        _ identities: [Identity],
        chain: [Certificate] = [],
        passphrase: borrowing Passphrase,
        compatibility: Compatibility = .modern
    ) throws(CMSError) -> [UInt8] {
        guard identities.count <= maximumKeys else { throw .limitExceeded("keys in a PKCS#12 file") }
        guard identities.count + chain.count <= maximumCertificates else {
            throw .limitExceeded("certificates in a PKCS#12 file")
        }
        let form = PassphraseForm(writing: passphrase)
        let bytes = try writing(.pkcs12) {
            var writer = try PKCS12Writer(form: form, compatibility: compatibility)
            return try writer.file(identities, chain: chain)
        }
        guard bytes.count <= maximumCount else { throw .limitExceeded("PKCS#12 size") }
        return bytes
    }
}

/// Writes the structures of RFC 7292 §4 in DER.
private struct PKCS12Writer {
    let form: PassphraseForm
    let compatibility: PKCS12.Compatibility
    /// The salt that all PBES2 parts share, so that writer and readers derive the key only once.
    private let salt: [UInt8]
    private var lastKey: PasswordEncryption.DerivedKey?

    init(form: PassphraseForm, compatibility: PKCS12.Compatibility) throws {
        (self.form, self.compatibility) = (form, compatibility)
        salt = try randomBytes(count: 16)
    }

    mutating func file(_ identities: [Identity], chain: [Certificate]) throws -> [UInt8] {
        let certificates = try sequence(
            identities.map { try certificateBag($0.certificate, attributes: attributes($0)) }
                + chain.map { try certificateBag($0, attributes: nil) }
        )
        let keys = try sequence(identities.map { try keyBag($0) })
        let safes = try sequence([encrypted(certificates), plain(keys)])
        let salt = try randomBytes(count: 16)
        let mac = PKCS12MAC.Algorithm.hmac(
            digest: compatibility.digest.libcryptoName,
            byteCount: compatibility.digest.byteCount,
            salt: salt,
            iterations: compatibility.iterations
        )
        let value = try PKCS12MAC.compute(mac, over: safes, with: form)
        return try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(3)
                coder.serializeRawBytes(try plain(safes))
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try coder.serialize(
                            AlgorithmIdentifier(compatibility.digest.oid, parameters: AlgorithmIdentifier.null)
                        )
                        try coder.serialize(ASN1OctetString(contentBytes: value[...]))
                    }
                    try coder.serialize(ASN1OctetString(contentBytes: salt[...]))
                    try coder.serialize(compatibility.iterations)
                }
            }
        }
    }

    private func sequence(_ elements: [[UInt8]]) throws -> [UInt8] {
        let contents = elements.flatMap { $0 }
        return DERFrame.header(.sequence, isConstructed: true, length: contents.count) + contents
    }

    private func tagged(_ number: UInt, _ contents: [UInt8]) -> [UInt8] {
        DERFrame.header(.context(number), isConstructed: true, length: contents.count) + contents
    }

    private func octets(_ bytes: [UInt8]) throws -> [UInt8] {
        try der { try $0.serialize(ASN1OctetString(contentBytes: bytes[...])) }
    }

    private func oid(_ identifier: ASN1ObjectIdentifier) throws -> [UInt8] { try der { try $0.serialize(identifier) } }

    /// A ContentInfo of type data.
    private func plain(_ bytes: [UInt8]) throws -> [UInt8] {
        try sequence([oid(ASN1ObjectIdentifier.ContentType.data), tagged(0, octets(bytes))])
    }

    /// A ContentInfo of type encryptedData.
    private mutating func encrypted(_ bytes: [UInt8]) throws -> [UInt8] {
        let (scheme, algorithm) = try freshScheme()
        let ciphertext = try scheme.encrypt(bytes.octets, with: form, reusing: &lastKey)
        let content = DERFrame.header(.context(0), isConstructed: false, length: ciphertext.count) + ciphertext
        let info = try sequence([oid(ASN1ObjectIdentifier.ContentType.data), algorithm, content])
        let data = try sequence([der { try $0.serialize(0) }, info])
        return try sequence([oid(ASN1ObjectIdentifier.ContentType.encryptedData), tagged(0, data)])
    }

    private func bag(_ type: ASN1ObjectIdentifier, _ value: [UInt8], attributes: [UInt8]?) throws -> [UInt8] {
        try sequence([oid(type), tagged(0, value)] + [attributes].compactMap(\.self))
    }

    private func certificateBag(_ certificate: Certificate, attributes: [UInt8]?) throws -> [UInt8] {
        let value = try sequence([oid([1, 2, 840, 113549, 1, 9, 22, 1]), tagged(0, octets(certificate.der))])
        return try bag([1, 2, 840, 113549, 1, 12, 10, 1, 3], value, attributes: attributes)
    }

    private mutating func keyBag(_ identity: Identity) throws -> [UInt8] {
        let (scheme, algorithm) = try freshScheme()
        let ciphertext = try identity.key.withPKCS8 { try scheme.encrypt($0, with: form, reusing: &lastKey) }
        let value = try sequence([algorithm, octets(ciphertext)])
        return try bag([1, 2, 840, 113549, 1, 12, 10, 1, 2], value, attributes: attributes(identity))
    }

    /// The attributes localKeyId, for readers that do not compare public keys, and friendlyName, for users.
    private func attributes(_ identity: Identity) throws -> [UInt8] {
        let certificate = identity.certificate
        let name = identity.friendlyName ?? certificate.subject.commonName ?? certificate.addresses.first ?? "identity"
        let text = name.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let identifier = try DigestAlgorithm.sha1.digest(certificate.der)
        return try [
            Attribute(
                [1, 2, 840, 113549, 1, 9, 20],
                values: [der { try $0.serialize(ASN1BMPString(contentBytes: text[...])) }]
            ),
            Attribute([1, 2, 840, 113549, 1, 9, 21], values: [octets(identifier)]),
        ].derSet()
    }

    /// A new encryption scheme with its own initialization vector, and its AlgorithmIdentifier.
    private func freshScheme() throws -> (PasswordEncryption, algorithm: [UInt8]) {
        let algorithm = try compatibility == .modern ? pbes2() : tripleDES()
        return (try PasswordEncryption(AlgorithmIdentifier(berEncoded: algorithm)), algorithm)
    }

    private func tripleDES() throws -> [UInt8] {
        var ownSalt = try randomBytes(count: 8)
        // gpgsm 2.2 derives a wrong key for one salt in 128, and a file has at least two salts.
        while try PKCS12KDF.isMisreadByGpgsm(form.bmp, ownSalt, iterations: compatibility.iterations) {
            ownSalt = try randomBytes(count: 8)
        }
        let parameters = try sequence([
            octets(ownSalt), der { try $0.serialize(compatibility.iterations) },
        ])
        return try der {
            try $0.serialize(AlgorithmIdentifier(PasswordEncryption.tripleDESOID, parameters: parameters))
        }
    }

    private func pbes2() throws -> [UInt8] {
        let hmac = AlgorithmIdentifier([1, 2, 840, 113549, 2, 9], parameters: AlgorithmIdentifier.null)
        let derivation = try sequence([
            octets(salt), der { try $0.serialize(compatibility.iterations) }, der { try $0.serialize(hmac) },
        ])
        let cipher = AlgorithmIdentifier(PasswordEncryption.aes256OID, parameters: try octets(randomBytes(count: 16)))
        let function = AlgorithmIdentifier(KeyDerivation.pbkdf2OID, parameters: derivation)
        let parameters = try sequence([der { try $0.serialize(function) }, der { try $0.serialize(cipher) }])
        return try der { try $0.serialize(AlgorithmIdentifier(PasswordEncryption.pbes2OID, parameters: parameters)) }
    }
}
