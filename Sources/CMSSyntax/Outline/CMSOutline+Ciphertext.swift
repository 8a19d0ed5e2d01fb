extension CMSOutline {
    /// Whether this is an encrypted object whose cipher, parameters, content length and tag are consistent, as in every
    /// genuine ciphertext.
    ///
    /// CBC belongs in EnvelopedData, and its content is one or more whole blocks. GCM, CCM and ChaCha20-Poly1305 belong in
    /// AuthEnvelopedData, with a tag of the length that the parameters name. Nothing is decrypted, so the content need not be
    /// ciphertext; `PlaintextDetector` finds plaintext in its place.
    /// RFC 5652 §6.1, RFC 5083 §2.1, RFC 5084 §3, RFC 8103 §2
    package var isWellFormedCiphertext: Bool {
        guard isComplete, let encryption = contentEncryption, let contentCount, contentCount > 0 else { return false }
        switch type {
        case .envelopedData:
            // The initialization vector of CBC is one block long.
            return !encryption.cipher.isAuthenticated && contentCount.isMultiple(of: encryption.iv.count)
        case .authEnvelopedData: return encryption.cipher.isAuthenticated && tagCount == encryption.tagCount
        default: return false
        }
    }

    /// Whether the cipher is only used to read old mail, and never to write.
    package var hasHistoricCipher: Bool { contentEncryption?.cipher.isHistoric ?? false }
}
