import SwiftASN1

/// Private keys, found by the certificates about them without comparing each with each.
package struct PrivateKeyIndex {
    private let keys: [PrivateKey]
    /// The places of keys, by what all encodings of their public halves have in common.
    private let places: [[UInt8]: [Int]]

    package init(_ keys: [PrivateKey]) {
        self.keys = keys
        places = Dictionary(grouping: keys.indices) { keys[$0].publicKeyInfo.commonBits }
    }

    /// The places of the keys that `certificate` is about, in their order.
    package func places(for certificate: Certificate) -> [Int] {
        (places[certificate.publicKeyInfo.commonBits] ?? []).filter { keys[$0].belongs(to: certificate) }
    }
}

extension [UInt8] {
    /// A part that all SubjectPublicKeyInfo encodings of one key share: the key without its parameters, and of a point
    /// only the first coordinate, which the compressed form has, too (SEC 1 §2.3.3).
    fileprivate var commonBits: [UInt8] {
        guard let bits = publicKeyBits else { return self }
        guard case .ellipticCurve? = try? PublicKeyAlgorithm(publicKeyInfo: self), let form = bits.first else {
            return bits
        }
        let coordinates = bits.dropFirst()
        return Array(form == 2 || form == 3 ? coordinates : coordinates.prefix(coordinates.count / 2))
    }
}
