import SwiftASN1

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
