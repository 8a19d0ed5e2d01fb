import LibCrypto
import PKIX
import SwiftASN1

/// The content-encryption key from a RecipientInfo, or a substitute if unwrapping failed.
///
/// The sender of the message cannot tell the two apart: with the substitute, decryption fails with the same error as for
/// damaged content (RFC 3218 §2.3.2).
package struct ContentKey: Sendable {
    let bytes: SecretBytes
    /// Whether the key wrap has verified the key. RSA has no such check (RFC 3218 §2.3.2).
    package let isVerified: Bool

    /// The unwrapped key; `substitute` if unwrapping failed or the key has another length.
    fileprivate init(_ unwrapped: SecretBytes?, else substitute: SecretBytes) {
        let fitting = unwrapped.flatMap { $0.count == substitute.count ? $0 : nil }
        bytes = fitting ?? substitute
        isVerified = fitting != nil
    }

    /// A key that was not verified.
    fileprivate init(unverified bytes: SecretBytes) {
        self.bytes = bytes
        isVerified = false
    }
}

extension RecipientInfo {
    /// Unwraps the content-encryption key of `count` bytes.
    ///
    /// - Throws: `CMSError.unsupported` for an unsupported kind or algorithm, which everyone can read in the message. If the
    ///   private key does not match, the result is a substitute, not an error.
    func unwrap(with key: PrivateKey, keyCount count: Int) throws -> ContentKey {
        let substitute = try substitute(for: key, count: count)
        switch wrapping {
        case .unsupported(let what):
            throw CMSError.unsupported(what)
        case .password, .secretKey: throw CMSError.unsupported("\(kind.rawValue) recipients with a private key")
        case .transport(let padding):
            return ContentKey(unverified: transported(key, padding, substitute: substitute))
        case .agreement(let scheme, let wrap, let point, let material):
            return ContentKey(try? agreed(key, scheme, wrap: wrap, point: point, material: material), else: substitute)
        case .encapsulation(let encapsulation):
            return ContentKey(try? encapsulated(key, encapsulation), else: substitute)
        }
    }

    /// Unwraps the content-encryption key of `count` bytes with a shared secret.
    ///
    /// - Throws: `CMSError.unsupported` for an unsupported kind or algorithm or another kind of secret,
    ///   `CMSError.limitExceeded` for a derivation that takes too long. If the secret does not match, the result is a random
    ///   key, not an error.
    func unwrap(with secret: SharedSecret, keyCount count: Int) throws -> ContentKey {
        let substitute = try SecretBytes.random(count: count)
        switch (wrapping, secret.kind) {
        case (.unsupported(let what), _): throw CMSError.unsupported(what)
        case (.secretKey(let wrap, _), .key(let key, _)):
            return ContentKey(try? wrap.unwrap(encryptedKey, under: key), else: substitute)
        case (.password(let derivation, let wrap), .password(let password)):
            var budget = DerivationBudget()
            try budget.spend(derivation.cost(count: wrap.cipher.keyCount))
            let key = try derivation.derive(password, count: wrap.cipher.keyCount)
            let unwrapped = try wrap.unwrap(encryptedKey, under: key)
            // Three check octets do not prove that the key is correct.
            return ContentKey(unverified: unwrapped.flatMap { $0.count == count ? $0 : nil } ?? substitute)
        default: throw CMSError.unsupported("\(kind.rawValue) recipients with another kind of secret")
        }
    }

    /// The key that replaces a key which cannot be unwrapped. It cannot be predicted without the private key. It is the same
    /// for every attempt with one encrypted key. Otherwise an attacker could send a message repeatedly, see different
    /// results, and so learn that the padding was wrong.
    private func substitute(for key: PrivateKey, count: Int) throws -> SecretBytes {
        let secret = try key.handle.withPKCS8 { SecretBytes(copying: $0) }
        // libcrypto limits the length of `info`.
        let info = try Array("smime substitute key".utf8) + DigestAlgorithm.sha256.digest(encryptedKey)
        return try KeyDerivationFunction.hkdf(salt: [], info: info).derive(secret, digest: .sha256, count: count)
    }

    /// Chooses between the decrypted key and the substitute. The code does not branch, so the duration does not reveal the
    /// choice.
    private func transported(_ key: PrivateKey, _ padding: RSAPadding, substitute: SecretBytes) -> SecretBytes {
        let count = substitute.count
        var output = [UInt8](repeating: 0, count: max(encryptedKey.count, 1024))
        let (result, length) = key.handle.decrypt(encryptedKey, padding: padding, into: &output)
        let difference = UInt(bitPattern: Int(result) ^ 1) | UInt(bitPattern: length ^ count)
        let isZero = (~difference & (difference &- 1)) >> (UInt.bitWidth - 1)
        // All bits of the mask are set if both values are correct; otherwise none.
        let mask = UInt8(truncatingIfNeeded: 0 &- isZero)
        let chosen = substitute.withBytes { substitute in
            SecretBytes(count: count) { target in
                for index in 0..<count { target[index] = (output[index] & mask) | (substitute[index] & ~mask) }
            }
        }
        output.wipe()
        return chosen
    }

    private func agreed(
        _ key: PrivateKey,
        _ scheme: KeyAgreementScheme,
        wrap: KeyWrap,
        point: [UInt8],
        material: [UInt8]?
    ) throws -> SecretBytes {
        let secret = try key.handle.agree(withEncodedPoint: point)
        let wrappingKey = try scheme.keyEncryptionKey(from: secret, wrap: wrap, userKeyingMaterial: material)
        return try wrap.unwrap(encryptedKey, under: wrappingKey)
    }

    /// A manipulated ciphertext gives a different secret and no error (FIPS 203 §6.3). Unwrapping the key with that secret
    /// then fails.
    private func encapsulated(_ key: PrivateKey, _ encapsulation: KeyEncapsulation) throws -> SecretBytes {
        guard key.algorithm == .postQuantum(encapsulation.scheme) else { throw CMSError.noKeyPair }
        let secret = try key.handle.decapsulate(encapsulation.ciphertext)
        let wrappingKey = try encapsulation.keyEncryptionKey(from: secret)
        return try encapsulation.wrap.unwrap(encryptedKey, under: wrappingKey)
    }
}
