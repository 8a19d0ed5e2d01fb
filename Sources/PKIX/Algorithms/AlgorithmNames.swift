import LibCrypto
import SwiftASN1

extension ASN1ObjectIdentifier {
    /// The name of a digest, key or signature algorithm; the dotted OID if the algorithm is unknown.
    package var algorithmName: String {
        DigestAlgorithm(oid: self)?.rawValue ?? Self.algorithmNames[self] ?? PostQuantumScheme(oid: self)?.reportName
            ?? "\(self)"
    }

    /// Names of algorithms that are in no other table of this package, but that reports distinguish.
    private static let algorithmNames: [ASN1ObjectIdentifier: String] = [
        [2, 16, 840, 1, 101, 3, 4, 2, 11]: "shake128", [1, 2, 840, 113549, 2, 2]: "md2",
        Key.x25519: "x25519", Key.ed25519: "ed25519", [1, 3, 101, 113]: "ed448",
        Key.rsa: "rsa", Key.rsaPSS: "rsa-pss", Key.ellipticCurve: "ec", Key.dsa: "dsa",
    ]
}
