/// The allowed uses of a certificate's key.
///
/// RFC 5280 §4.2.1.3
public struct KeyUsage: OptionSet, Hashable, Sendable {
    /// Bit `i` is bit `i` of the extension's BIT STRING.
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The key signs anything except certificates and revocation lists.
    public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    /// The key signs content that the signer must not be able to deny later. Called contentCommitment since X.509 (2005).
    public static let nonRepudiation = KeyUsage(rawValue: 1 << 1)
    /// The key encrypts other keys, as RSA does in CMS.
    public static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
    /// The key encrypts data directly, without a second key.
    public static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
    /// The key is used for key agreement, as elliptic-curve keys are in CMS.
    public static let keyAgreement = KeyUsage(rawValue: 1 << 4)
    /// The key signs certificates.
    public static let keyCertSign = KeyUsage(rawValue: 1 << 5)
    /// The key signs revocation lists.
    public static let cRLSign = KeyUsage(rawValue: 1 << 6)
    /// With `keyAgreement`: the key may only encrypt.
    public static let encipherOnly = KeyUsage(rawValue: 1 << 7)
    /// With `keyAgreement`: the key may only decrypt.
    public static let decipherOnly = KeyUsage(rawValue: 1 << 8)
}

extension KeyUsage: CustomStringConvertible {
    public var description: String {
        let names = [
            "digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement", "keyCertSign",
            "cRLSign", "encipherOnly", "decipherOnly",
        ]
        return names.indices.filter { rawValue >> $0 & 1 == 1 }.map { names[$0] }.joined(separator: ", ")
    }
}
