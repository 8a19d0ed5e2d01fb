import LibCrypto
import SwiftASN1

/// The kind and size of a public key.
@nonexhaustive
public enum PublicKeyAlgorithm: Hashable, Sendable {
    /// DSA, with the length of the prime in bits; 0 if the key does not contain its parameters.
    case dsa(Int)
    case ed25519
    /// The usual name of the curve, such as `P-256`, or its dotted OID, or `explicit parameters`.
    case ellipticCurve(String)
    /// ML-DSA or ML-KEM, which only newer versions of libcrypto support.
    case postQuantum(PostQuantumScheme)
    /// The dotted OID of any other algorithm.
    case other(String)
    /// The length of the modulus in bits.
    case rsa(Int)
    /// A key that may only be used with RSASSA-PSS (RFC 4055 §1.2), and the length of its modulus in bits.
    case rsaPSS(Int)
    case x25519

    /// Reads the algorithm of a SubjectPublicKeyInfo.
    init(publicKeyInfo: [UInt8]) throws {
        var fields = try ElementReader(ASN1Node.read(publicKeyInfo))
        let identifier = try AlgorithmIdentifier(berEncoded: fields.next(.sequence))
        let key = try fields.next(.bitString)
        switch identifier.algorithm {
        case ASN1ObjectIdentifier.Key.rsa: self = .rsa(try Self.rsaBits(key.bits()))
        case ASN1ObjectIdentifier.Key.rsaPSS: self = .rsaPSS(try Self.rsaBits(key.bits()))
        case ASN1ObjectIdentifier.Key.ellipticCurve: self = .ellipticCurve(try Self.curve(identifier.parameters))
        case ASN1ObjectIdentifier.Key.dsa: self = .dsa(Self.primeBits(identifier.parameters))
        case ASN1ObjectIdentifier.Key.x25519: self = .x25519
        case ASN1ObjectIdentifier.Key.ed25519: self = .ed25519
        default:
            self =
                PostQuantumScheme(oid: identifier.algorithm).map(Self.postQuantum) ?? .other("\(identifier.algorithm)")
        }
    }

    /// Whether this package can sign with a key of this kind.
    public var canSign: Bool {
        switch self {
        case .rsa, .rsaPSS, .ellipticCurve, .ed25519: true
        case .postQuantum(let scheme): scheme.use == .signature && scheme.isOffered
        case .dsa, .other, .x25519: false
        }
    }

    /// Whether this libcrypto supports keys of this kind. True also if that is unknown.
    public var isOffered: Bool { if case .postQuantum(let scheme) = self { scheme.isOffered } else { true } }

    /// Whether this is a DSA key of any length.
    package var isDSA: Bool { if case .dsa = self { true } else { false } }

    /// Whether breaking the key takes less than 2^112 steps, the minimum of RFC 8551 §4: RSA and DSA under 2048 bits,
    /// elliptic curves under 224 bits, and curves that libcrypto does not support or that are given by explicit parameters
    /// (RFC 5480 §2.1.1). A DSA key without parameters counts as weak.
    public var isWeak: Bool { isShorter(than: 2048, curve: 224) }

    /// Whether a single computer can break the key: RSA and DSA under 1024 bits, elliptic curves under 160 bits. Curves without
    /// a known size are included.
    var isBreakable: Bool { isShorter(than: 1024, curve: 160) }

    private func isShorter(than modulus: Int, curve: Int) -> Bool {
        switch self {
        // The key inherits its parameters from the issuer, so its length is unknown.
        case .dsa(0): modulus > 1024
        case .dsa(let bits), .rsa(let bits), .rsaPSS(let bits): bits < modulus
        case .ellipticCurve: curveBits.map { $0 < curve } ?? true
        default: false
        }
    }

    private static func rsaBits(_ key: [UInt8]) throws -> Int {
        var fields = try ElementReader(ASN1Node.read(key))
        let modulus = try fields.next(.integer).primitive().drop { $0 == 0 }
        guard let first = modulus.first else { throw ElementReader.Mismatch(description: "an RSA modulus is zero") }
        // With the exponent 1 anyone can sign, and nothing is encrypted (RFC 8017 §3.1: odd, and at least 3).
        let exponent = try fields.next(.integer).primitive().drop { $0 == 0 }
        guard let last = exponent.last, last % 2 == 1, exponent != [1] else {
            throw ElementReader.Mismatch(description: "an RSA exponent is 1 or even")
        }
        return modulus.count * 8 - first.leadingZeroBitCount
    }

    private static func primeBits(_ parameters: [UInt8]?) -> Int {
        guard let parameters, let node = try? ASN1Node.read(parameters), var fields = try? ElementReader(node),
            let prime = try? fields.next(.integer).primitive().drop(while: { $0 == 0 }), let first = prime.first
        else { return 0 }
        return prime.count * 8 - first.leadingZeroBitCount
    }

    private static func curve(_ parameters: [UInt8]?) throws -> String {
        guard let parameters, let node = try? ASN1Node.read(parameters), node.identifier == .objectIdentifier else {
            return "explicit parameters"
        }
        let oid = try node.objectIdentifier()
        return curves.first { $0.oid == oid }?.name ?? "\(oid)"
    }

    /// The field size of the curve in bits; nil for keys without a named curve and for curves that libcrypto does not
    /// support.
    package var curveBits: Int? {
        guard case .ellipticCurve(let name) = self else { return nil }
        return Self.curves.first { $0.name == name }?.bits ?? Libcrypto.curveBits(oid: name)
    }

    /// Whether this is a key on one of `curves`.
    var hasListedCurve: Bool {
        guard case .ellipticCurve(let name) = self else { return false }
        return Self.curves.contains { $0.name == name }
    }

    /// The common prime curves of RFC 5480 §2.1.1.1 and RFC 5639 §4, and secp256k1.
    private static let curves: [(oid: ASN1ObjectIdentifier, name: String, bits: Int)] = [
        (.NamedCurves.secp256r1, "P-256", 256), (.NamedCurves.secp384r1, "P-384", 384),
        (.NamedCurves.secp521r1, "P-521", 521), ([1, 3, 132, 0, 33], "P-224", 224),
        ([1, 3, 132, 0, 10], "secp256k1", 256),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 5], "brainpoolP224r1", 224),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 7], "brainpoolP256r1", 256),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 8], "brainpoolP256t1", 256),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 9], "brainpoolP320r1", 320),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 11], "brainpoolP384r1", 384),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 12], "brainpoolP384t1", 384),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 13], "brainpoolP512r1", 512),
        ([1, 3, 36, 3, 3, 2, 8, 1, 1, 14], "brainpoolP512t1", 512),
    ]
}

extension PublicKeyAlgorithm: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dsa(let bits): bits > 0 ? "DSA \(bits)" : "DSA"
        case .ed25519: "Ed25519"
        case .ellipticCurve(let name): "EC \(name)"
        case .postQuantum(let scheme): scheme.name
        case .other(let oid): oid
        case .rsa(let bits): "RSA \(bits)"
        case .rsaPSS(let bits): "RSA-PSS \(bits)"
        case .x25519: "X25519"
        }
    }
}
