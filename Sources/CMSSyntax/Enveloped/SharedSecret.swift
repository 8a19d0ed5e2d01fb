package import LibCrypto
import PKIX
import SwiftASN1

/// A secret for decrypting without a certificate: a shared key or a password.
///
/// The secret is only used if the user provides it. A message alone never causes a secret to be tried.
///
/// RFC 5652 §6.2.3 and §6.2.4
package struct SharedSecret: Sendable {
    enum Kind: Sendable {
        case key(SecretBytes, identifier: [UInt8]?)
        case password(SecretBytes)
    }

    let kind: Kind

    /// A password as the user typed it.
    package init(password: borrowing Passphrase) {
        kind = .password(PassphraseForm(writing: password).utf8)
    }

    /// A key-encryption key of 16, 24 or 32 bytes. The caller must wipe `key`.
    ///
    /// - Parameter identifier: the key's identifier in the message; nil accepts any identifier. In a message that is written,
    ///   nil means an identifier derived from the key.
    /// - Throws: `CMSError.unsupported` for other key lengths.
    package init(key: Span<UInt8>, identifier: [UInt8]?) throws {
        guard [16, 24, 32].contains(key.count) else {
            throw CMSError.unsupported("a secret key of \(key.count) bytes instead of 16, 24 or 32")
        }
        kind = .key(SecretBytes(copying: key), identifier: identifier)
    }

    /// The kind of the secret in reports: `password` or `key-encryption-key`.
    package var recipientKind: RecipientInfo.Kind {
        switch kind {
        case .key: .keyEncryptionKey
        case .password: .password
        }
    }

    /// Whether `recipient` is for a secret of the same kind. A shared key must also have the length that the key wrap requires
    /// and, if it has an identifier, this identifier. A recipient with an unsupported algorithm matches by its kind alone.
    package func matches(_ recipient: RecipientInfo) -> Bool {
        switch (kind, recipient.wrapping) {
        case (.key(let key, let identifier), .secretKey(let wrap, let name)):
            key.count == wrap.keyCount && (identifier ?? name) == name
        case (.password, .password): true
        case (.key, .unsupported): recipient.kind == .keyEncryptionKey
        case (.password, .unsupported): recipient.kind == .password
        default: false
        }
    }
}

extension RecipientInfo {
    /// Whether the recipient uses a password or a shared key.
    package var isForSecret: Bool { kind == .keyEncryptionKey || kind == .password }
}

extension SharedSecret {
    /// The DER of the RecipientInfo from which this secret can unwrap `key`.
    func recipientInfo(for key: SecretBytes) throws -> [UInt8] {
        switch kind {
        case .key(let secret, let identifier): try Self.keyEncryptionKeyInfo(secret, identifier, key: key)
        case .password(let password): try Self.passwordInfo(password, wrapping: key)
        }
    }

    private static func keyEncryptionKeyInfo(
        _ secret: SecretBytes,
        _ identifier: [UInt8]?,
        key: SecretBytes
    ) throws -> [UInt8] {
        let wrap = try KeyWrap(keyCount: secret.count)
        let encrypted = try wrap.wrap(key, under: secret)
        // Recipients with several keys find the right one by this identifier, which reveals nothing about a random key.
        let name = try identifier ?? Array(secret.withBytes { try DigestAlgorithm.sha256.digest($0) }.prefix(8))
        return try der { coder in
            try coder.appendConstructedNode(identifier: .context(2)) { coder in
                try coder.serialize(4)
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1OctetString(contentBytes: name[...]))
                }
                try coder.serialize(wrap.identifier)
                try coder.serialize(ASN1OctetString(contentBytes: encrypted[...]))
            }
        }
    }

    private static func passwordInfo(_ password: SecretBytes, wrapping key: SecretBytes) throws -> [UInt8] {
        let derivation = try KeyDerivation.writing()
        let wrap = try PasswordKeyWrap(ContentEncryption(writing: .aes256CBC))
        let wrappingKey = try derivation.function.derive(password, count: wrap.cipher.keyCount)
        let encrypted = try wrap.wrap(key, under: wrappingKey)
        return try der { coder in
            try coder.appendConstructedNode(identifier: .context(3)) { coder in
                try coder.serialize(0)
                try derivation.identifier.serialize(into: &coder, withIdentifier: .context(0))
                try coder.serialize(wrap.identifier)
                try coder.serialize(ASN1OctetString(contentBytes: encrypted[...]))
            }
        }
    }
}

extension KeyDerivation {
    /// PBKDF2 with HMAC-SHA-256, a new salt, and the number of iterations that OWASP recommended in 2025.
    static func writing() throws -> (function: KeyDerivation, identifier: AlgorithmIdentifier) {
        let salt = try randomBytes(count: 16)
        let iterations = 600_000
        let hmac: ASN1ObjectIdentifier = [1, 2, 840, 113549, 2, 9]
        let parameters = try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(ASN1OctetString(contentBytes: salt[...]))
                try coder.serialize(iterations)
                try coder.serialize(AlgorithmIdentifier(hmac, parameters: AlgorithmIdentifier.null))
            }
        }
        let identifier = AlgorithmIdentifier(pbkdf2OID, parameters: parameters)
        return (try KeyDerivation(identifier), identifier)
    }
}
