import ByteStreams
package import LibCrypto
import SwiftASN1

/// A private key. The key can be used, encrypted, lent as PKCS#8, and matched to a certificate. Its description shows only
/// the kind of the key and a digest of the public key.
public struct PrivateKey: Sendable {
    package let handle: Handle<EVP_PKEY>
    /// The kind and size of the key.
    public let algorithm: PublicKeyAlgorithm
    /// The DER of the matching SubjectPublicKeyInfo.
    public let publicKeyInfo: [UInt8]

    /// Wraps a key that libcrypto has already loaded.
    init(_ handle: Handle<EVP_PKEY>) throws(CMSError) {
        let info: [UInt8]
        do throws(OpenSSLError) { info = try handle.publicKeyInfo() } catch {
            throw .unsupported("private key without a public key: \(error)")
        }
        try self.init(handle, publicKeyInfo: info)
    }

    private init(_ handle: Handle<EVP_PKEY>, publicKeyInfo info: [UInt8]) throws(CMSError) {
        self.handle = handle
        publicKeyInfo = info
        algorithm = try parsing(.privateKey) { try PublicKeyAlgorithm(publicKeyInfo: info) }
        // libcrypto has the same limit for public keys. A larger private key would only take time.
        switch algorithm {
        case .rsa(let bits), .rsaPSS(let bits):
            guard bits <= 16_384 else { throw .limitExceeded("RSA key of \(bits) bits") }
        default: break
        }
    }

    /// Reads a PKCS#8 PrivateKeyInfo in DER. The caller must wipe the bytes.
    ///
    /// - Throws: `CMSError.malformed`; `.unsupported` for a key that this package or libcrypto does not support;
    ///   `.limitExceeded` for an RSA key of more than 16,384 bits.
    package init(pkcs8: [UInt8]) throws(CMSError) {
        defer { StackResidue.wipe() }
        var first = Self.firstVersion(pkcs8)
        defer { first?.wipe() }
        if let key = RSAKey(pkcs8: first ?? pkcs8) {
            try self.init(key.handle, publicKeyInfo: key.publicKeyInfo)
            return
        }
        let algorithm = try Self.checkedAlgorithm(of: first ?? pkcs8)
        let info: Owned<PKCS8_PRIV_KEY_INFO>
        do throws(OpenSSLError) { info = try Owned(pkcs8: first ?? pkcs8) } catch {
            throw .malformed(.privateKey, "\(error)")
        }
        let handle: Handle<EVP_PKEY>
        do throws(OpenSSLError) { handle = try Handle(info) } catch {
            // libcrypto supports every RSA key.
            if algorithm == .Key.rsa { throw .malformed(.privateKey, "\(error)") }
            throw .unsupported("private key of algorithm \(algorithm.algorithmName): \(error)")
        }
        try self.init(handle)
    }

    /// The algorithm of the key. Rejects unsupported kinds of keys before libcrypto reads them. Also rejects large DSA keys:
    /// their encoding lacks the public key, and an attacker could choose a key for which computing the public key takes very
    /// long.
    ///
    /// - Throws: `CMSError.unsupported`; `.malformed` if the structure is not a PrivateKeyInfo.
    private static func checkedAlgorithm(of pkcs8: [UInt8]) throws(CMSError) -> ASN1ObjectIdentifier {
        guard let fields = try? ElementExtent.elements(of: pkcs8, limit: 2), fields.count == 2,
            let identifier = try? AlgorithmIdentifier(berEncoded: ASN1Node.read(pkcs8[fields[1].range]))
        else { throw .malformed(.privateKey, "no PrivateKeyInfo") }
        let isSmallDSA = identifier.algorithm == .Key.dsa && pkcs8.count <= maximumDSACount
        guard isSmallDSA || known.contains(identifier.algorithm) || PostQuantumScheme(oid: identifier.algorithm) != nil
        else {
            throw .unsupported("private key of algorithm \(identifier.algorithm.algorithmName)")
        }
        return identifier.algorithm
    }

    /// The maximum size in bytes of an encoded DSA key: enough for a key of 4,096 bits.
    static let maximumDSACount = 2048

    private static let known: Set<ASN1ObjectIdentifier> = [
        .Key.rsa, .Key.rsaPSS, .Key.ellipticCurve, .Key.ed25519, .Key.x25519, [1, 3, 101, 111], [1, 3, 101, 113],
    ]

    /// Converts OneAsymmetricKey (RFC 5958 §2) of version 2 to version 1 without the public key, because libcrypto reads only
    /// version 1; nil if the input is not version 2. The caller must wipe the bytes.
    private static func firstVersion(_ pkcs8: [UInt8]) -> [UInt8]? {
        guard let fields = try? ElementExtent.elements(of: pkcs8, limit: 3), fields.count == 3,
            pkcs8[fields[0].range] == [0x02, 0x01, 0x01]
        else { return nil }
        let inner = fields[1].range.lowerBound..<fields[2].range.upperBound
        let header = DERFrame.header(.sequence, isConstructed: true, length: inner.count + 3)
        return header + [0x02, 0x01, 0x00] + pkcs8[inner]
    }

    /// Whether `certificate` is for this key.
    ///
    /// An RSA key also belongs to an RSASSA-PSS certificate with the same modulus, and the other way round.
    public func belongs(to certificate: Certificate) -> Bool {
        if publicKeyInfo == certificate.publicKeyInfo { return true }
        switch (algorithm, certificate.publicKeyAlgorithm) {
        case (.rsa, .rsaPSS), (.rsaPSS, .rsa), (.rsaPSS, .rsaPSS):
            return publicKeyInfo.publicKeyBits == certificate.publicKeyInfo.publicKeyBits
        default:
            return (try? certificate.publicKey()).map(handle.hasSamePublicKey(as:)) ?? false
        }
    }

    /// Lends the PKCS#8 PrivateKeyInfo to `body`. The bytes are wiped when `body` returns.
    package func withPKCS8<Value>(_ body: (Span<UInt8>) throws -> Value) throws -> Value {
        try handle.withPKCS8(body)
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    /// The kind of the key, and the SHA-256 of the matching SubjectPublicKeyInfo.
    public var description: String {
        guard let digest = try? DigestAlgorithm.sha256.digest(publicKeyInfo) else { return "\(algorithm)" }
        return "\(algorithm) (sha256:\(digest.hexadecimal))"
    }

    /// Empty, so that `dump` and other reflection do not reveal the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension PrivateKey {
    /// Rejects a key whose private and public parts do not belong together: no certificate would verify its signatures.
    ///
    /// - Throws: `CMSError.malformed`
    package func checkPair() throws(CMSError) {
        guard isPair else { throw .malformed(.privateKey, "its private key does not match its public key") }
    }

    private var isPair: Bool {
        switch algorithm {
        case .rsa: trialSignatureVerifies(.rsaPKCS1, .sha256)
        case .rsaPSS:
            // A key that is too short, or restricted to unknown parameters, cannot be used for signing.
            (try? PSSParameters.restriction(publicKeyInfo)?.digest ?? .sha256).flatMap { digest in
                (try? PSSParameters(signing: digest, publicKeyInfo: publicKeyInfo)).map {
                    trialSignatureVerifies(.rsaPSS(saltLength: $0.saltLength, mgf: $0.mgf), digest)
                }
            } ?? true
        case .ellipticCurve, .dsa: handle.isPair()
        // libcrypto computed the public key from the private key, so the two always match.
        case .ed25519, .postQuantum, .other, .x25519: true
        }
    }

    /// Whether a trial signature by the key can be verified. libcrypto's own check includes primality tests, which take
    /// seconds for large keys.
    private func trialSignatureVerifies(_ scheme: SignatureAlgorithm.Scheme, _ digest: DigestAlgorithm) -> Bool {
        guard let value = try? digest.digest([]),
            let signature = try? handle.sign(value, digest: digest, padding: scheme.padding)
        else { return false }
        return handle.verify(signature, of: value, digest: digest, padding: scheme.padding)
    }
}

extension PrivateKey {
    /// Encrypts the PKCS#8 encoding under `key`; `context`, usually the certificate's fingerprint, is authenticated as well.
    package func sealed(under key: SealingKey, authenticating context: [UInt8]) throws(CMSError) -> [UInt8] {
        try writing(.privateKey) { try withPKCS8 { try key.seal($0, authenticating: context) } }
    }

    /// Decrypts the result of `sealed`.
    ///
    /// - Throws: `CMSError.decryptionFailed` if key, context or bytes differ.
    package init(sealed: [UInt8], under key: SealingKey, authenticating context: [UInt8]) throws(CMSError) {
        let secret = try key.open(sealed, authenticating: context)
        var pkcs8 = secret.copied()
        defer { pkcs8.wipe() }
        try self.init(pkcs8: pkcs8)
    }
}

/// Finds private keys by their certificates without comparing every key with every certificate.
package struct PrivateKeyIndex {
    private let keys: [PrivateKey]
    /// The indices of keys, by the part of the public key that all its encodings share.
    private let places: [[UInt8]: [Int]]

    package init(_ keys: [PrivateKey]) {
        self.keys = keys
        places = Dictionary(grouping: keys.indices) { keys[$0].publicKeyInfo.commonBits }
    }

    /// The indices of the keys that belong to `certificate`, in ascending order.
    package func places(for certificate: Certificate) -> [Int] {
        (places[certificate.publicKeyInfo.commonBits] ?? []).filter { keys[$0].belongs(to: certificate) }
    }
}

extension [UInt8] {
    /// The part that all SubjectPublicKeyInfo encodings of one key share: the key without parameters, and only the first
    /// coordinate of a curve point, as in the compressed form (SEC 1 §2.3.3).
    fileprivate var commonBits: [UInt8] {
        guard let bits = publicKeyBits else { return self }
        guard case .ellipticCurve? = try? PublicKeyAlgorithm(publicKeyInfo: self), let form = bits.first else {
            return bits
        }
        let coordinates = bits.dropFirst()
        return Array(form == 2 || form == 3 ? coordinates : coordinates.prefix(coordinates.count / 2))
    }
}
