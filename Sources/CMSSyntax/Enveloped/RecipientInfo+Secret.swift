import PKIX
import SwiftASN1

/// The kinds of RecipientInfo without a certificate. A RecipientInfo that cannot be parsed is reported as unsupported.
extension RecipientInfo {
    /// KEKRecipientInfo (RFC 5652 §6.2.3).
    static func secretKey(_ node: ASN1Node) -> RecipientInfo {
        let algorithmName = Self.algorithmName(of: node)
        guard var fields = try? ElementReader(node, .context(2)), (try? fields.next(.integer)) != nil,
            let identifier = try? fields.next(.sequence).children().first?.octets(),
            let algorithm = try? AlgorithmIdentifier(berEncoded: fields.next(.sequence)),
            let wrap = try? KeyWrap(algorithm), let key = try? fields.next(.octetString).octets()
        else { return unsupported(.keyEncryptionKey, algorithmName) }
        return RecipientInfo(
            kind: .keyEncryptionKey,
            identifier: nil,
            algorithm: algorithmName ?? Kind.keyEncryptionKey.rawValue,
            wrapping: .secretKey(wrap, identifier: identifier),
            encryptedKey: key
        )
    }

    /// PasswordRecipientInfo (RFC 5652 §6.2.4).
    static func password(_ node: ASN1Node) -> RecipientInfo {
        let algorithmName = Self.algorithmName(of: node)
        guard var fields = try? ElementReader(node, .context(3)), (try? fields.next(.integer)) != nil,
            let derived = fields.optional(.context(0)),
            let identifier = try? AlgorithmIdentifier(berEncoded: derived, withIdentifier: .context(0)),
            let derivation = try? KeyDerivation(identifier),
            let algorithm = try? AlgorithmIdentifier(berEncoded: fields.next(.sequence)),
            let wrap = try? PasswordKeyWrap(algorithm), let key = try? fields.next(.octetString).octets(),
            derivation.keyCount ?? wrap.cipher.keyCount == wrap.cipher.keyCount
        else { return unsupported(.password, algorithmName) }
        return RecipientInfo(
            kind: .password,
            identifier: nil,
            algorithm: algorithmName ?? Kind.password.rawValue,
            wrapping: .password(derivation, wrap),
            encryptedKey: key
        )
    }
}

extension KeyDerivation {
    /// The name in reports, such as `pbkdf2 with 600000 iterations of sha256`.
    var name: String {
        switch self {
        case .pbkdf2(_, let iterations, _, let digest):
            "pbkdf2 with \(iterations) iterations of \(digest.lowercased().replacing("sha2-", with: "sha"))"
        case .scrypt: "scrypt"
        }
    }
}
