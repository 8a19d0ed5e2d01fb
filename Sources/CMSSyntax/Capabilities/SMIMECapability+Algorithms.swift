import LibCrypto
public import PKIX
import SwiftASN1

extension SMIMECapability {
    /// The name of the algorithm, such as `aes-256-gcm`, or its dotted OID.
    public var name: String { algorithm.displayName }

    /// The announced content cipher; nil for other capabilities and for ciphers that smime cannot encrypt with.
    package var cipher: ContentCipher? { ContentCipher(oid: algorithm.algorithm).flatMap { $0.isWritable ? $0 : nil } }

    /// Whether this is a content cipher, including obsolete ones.
    package var isCipher: Bool { ContentCipher(oid: algorithm.algorithm) != nil || Self.obsolete.contains(name) }

    private static let obsolete: Set = ["des-cbc", "rc4", "cast5-cbc"]

    /// The announced key wrapping for RSA; nil for other capabilities and for wrappings that smime cannot write.
    package var rsaWrapping: Recipient.RSAWrapping? {
        guard algorithm.algorithm == ASN1ObjectIdentifier.Key.rsaOAEP,
            case .oaep(let digest, let mgf, let label)? = try? OAEPParameters.read(algorithm.parameters),
            digest == mgf, label.isEmpty
        else { return nil }
        return Recipient.RSAWrapping.allCases.first { $0.digest == digest }
    }

    /// The capabilities that smime announces, in this order: ciphers, best first; key encryption (RFC 5753 §8, RFC 8418 §5,
    /// RFC 9936 §2.4); compression (RFC 3274 §2).
    package static let ours: [SMIMECapability] = {
        let ciphers: [ContentCipher] = [
            .aes256GCM, .aes128GCM, .chaCha20Poly1305, .aes192GCM, .aes256CBC, .aes192CBC, .aes128CBC,
        ]
        let oaep = [DigestAlgorithm.sha256, .sha1].compactMap { try? OAEPParameters.identifier($0) }
        let agreements = KeyAgreementScheme.announced.flatMap { scheme in
            [32, 16].compactMap { count in
                (try? KeyWrap(keyCount: count).identifier.encoded()).map {
                    AlgorithmIdentifier(scheme.oid, parameters: $0)
                }
            }
        }
        // Post-quantum schemes are announced as RFC 9936 §2.4 describes.
        let encapsulations = PostQuantumScheme.all.filter { $0.use == .keyEncapsulation && $0.isOffered }
        let all =
            ciphers.map { AlgorithmIdentifier($0.oid) } + oaep + agreements
            + encapsulations.map { AlgorithmIdentifier($0.oid) } + [AlgorithmIdentifier(CompressedData.zlib)]
        return all.map(SMIMECapability.init)
    }()

    /// The names of the announced algorithms without duplicates: some algorithms are announced once for each wrap or digest.
    package static func names(of capabilities: [SMIMECapability]) -> [String] {
        var seen: Set<String> = []
        return capabilities.map(\.name).filter { seen.insert($0).inserted }
    }
}
