import ByteStreams
package import LibCrypto

/// A 256-bit key for encrypting stored secrets, wiped when the last copy is released.
///
/// Sealed bytes consist of a random nonce (12 bytes), the ciphertext of AES-256-GCM, and the tag (16 bytes).
package struct SealingKey: Sendable {
    /// The length of a key in bytes.
    package static let count = 32
    /// The number of bytes that sealing adds.
    package static let overhead = nonceCount + tagCount
    static let nonceCount = 12
    static let tagCount = 16

    private let secret: SecretBytes

    /// Generates a random key.
    package static func generate() throws(CMSError) -> SealingKey {
        Libcrypto.start()
        return SealingKey(secret: try lift { () throws(OpenSSLError) in try .random(count: count) })
    }

    /// Copies 32 bytes; nil if `bytes` has another length. The caller remains responsible for wiping `bytes`.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        self.init(secret: SecretBytes(copying: bytes))
    }

    init(secret: SecretBytes) { self.secret = secret }

    /// Lends the key for the duration of `body`, which must not keep a reference to the bytes.
    package func withBytes<Value, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try secret.withBytes(body)
    }

    /// A copy of the key, which the caller must wipe.
    package func copied() -> [UInt8] { secret.copied() }

    /// Encrypts and authenticates `bytes` together with `context`. Opening the result requires the same context.
    ///
    /// libcrypto: AES-256-GCM
    package func seal(_ bytes: Span<UInt8>, authenticating context: [UInt8]) throws(CMSError) -> [UInt8] {
        Libcrypto.start()
        defer { StackResidue.wipe() }
        return try lift { () throws(OpenSSLError) in
            let nonce = try randomBytes(count: Self.nonceCount)
            let cipher = try secret.withBytes { key throws(OpenSSLError) in
                try CipherContext("AES-256-GCM", key: key, iv: nonce, isEncrypting: true)
            }
            if !context.isEmpty { try cipher.authenticate(context) }
            return nonce + (try cipher.whole(bytes)) + (try cipher.tag(count: Self.tagCount))
        }
    }

    /// Encrypts `bytes` and authenticates them together with `context`.
    package func seal(_ bytes: [UInt8], authenticating context: [UInt8]) throws(CMSError) -> [UInt8] {
        try seal(bytes.octets, authenticating: context)
    }

    /// Decrypts the result of `seal` with the same key and context.
    ///
    /// - Throws: `CMSError.decryptionFailed` if key, context or bytes differ.
    package func open(_ sealed: [UInt8], authenticating context: [UInt8]) throws(CMSError) -> SecretBytes {
        guard sealed.count >= Self.overhead else { throw .decryptionFailed }
        Libcrypto.start()
        defer { StackResidue.wipe() }
        let body = sealed[Self.nonceCount..<sealed.count - Self.tagCount]
        do throws(OpenSSLError) {
            let cipher = try secret.withBytes { key throws(OpenSSLError) in
                try CipherContext(
                    "AES-256-GCM",
                    key: key,
                    iv: Array(sealed.prefix(Self.nonceCount)),
                    isEncrypting: false
                )
            }
            if !context.isEmpty { try cipher.authenticate(context) }
            try cipher.expectTag(Array(sealed.suffix(Self.tagCount)))
            return try SecretBytes(count: body.count) { output throws(OpenSSLError) in
                let count = try cipher.update(body.octets, into: &output)
                var rest = output.piece(count..<output.count)
                _ = try cipher.finish(into: &rest)
            }
        } catch { throw .decryptionFailed }
    }

    /// Decrypts the result of `seal`, lends it to `body`, and wipes it afterwards.
    ///
    /// - Throws: `CMSError.decryptionFailed` if key, context or bytes differ; errors of `body`.
    package func withOpened<Value>(
        _ sealed: [UInt8],
        authenticating context: [UInt8],
        _ body: (Span<UInt8>) throws -> Value
    ) throws -> Value {
        // Also wipes copies that `body` left on the stack.
        defer { StackResidue.wipe() }
        return try open(sealed, authenticating: context).withBytes(body)
    }
}

extension SealingKey {
    /// The scrypt parameters for writing: 32 MiB of memory and about 0.1 s (RFC 7914 §2).
    private static let scrypt = (logCost: UInt8(15), blockSize: UInt8(8), parallelization: UInt8(1))
    private static let saltCount = 16
    private static let headerCount = 4 + saltCount
    /// The length of the result of `wrapped(by:)`.
    package static let wrappedCount = headerCount + count + overhead

    /// Encrypts the key under a passphrase.
    ///
    /// Format: version (1), log2 N, r and p of scrypt in one byte each, the salt (16 bytes), and the sealed key. All bytes
    /// before the sealed key are authenticated.
    ///
    /// libcrypto: `EVP_PBE_scrypt`, AES-256-GCM
    package func wrapped(by passphrase: borrowing Passphrase) throws(CMSError) -> [UInt8] {
        let salt = try lift { () throws(OpenSSLError) in try randomBytes(count: Self.saltCount) }
        let header = [1, Self.scrypt.logCost, Self.scrypt.blockSize, Self.scrypt.parallelization] + salt
        let outer = try Self.derive(header, passphrase)
        return header + (try withBytes { key throws(CMSError) in try outer.seal(key, authenticating: header) })
    }

    /// Opens the result of `wrapped(by:)`.
    ///
    /// - Throws: `CMSError.wrongPassphrase`, also if the bytes were changed; `.malformed` if the bytes have another format;
    ///   `.limitExceeded` if the scrypt parameters require more than 32 MiB of memory, or too much time.
    package init(wrapped: [UInt8], passphrase: borrowing Passphrase) throws(CMSError) {
        guard wrapped.count == Self.wrappedCount, wrapped[0] == 1 else {
            throw .malformed(.privateKey, "not a key sealed under a passphrase")
        }
        let header = Array(wrapped.prefix(Self.headerCount))
        let outer = try Self.derive(header, passphrase)
        do throws(CMSError) {
            self.init(secret: try outer.open(Array(wrapped.dropFirst(Self.headerCount)), authenticating: header))
        } catch { throw .wrongPassphrase }
    }

    private static func derive(_ header: [UInt8], _ passphrase: borrowing Passphrase) throws(CMSError) -> SealingKey {
        guard header[1] < 32 else { throw .limitExceeded("scrypt parameters") }
        let function = KeyDerivation.scrypt(
            salt: Array(header.dropFirst(4)),
            cost: 1 << Int(header[1]),
            blockSize: Int(header[2]),
            parallelization: Int(header[3]),
            keyCount: nil
        )
        var budget = DerivationBudget()
        try budget.spend(function.cost(count: count))
        let secret = passphrase.withBytes { bytes in
            SecretBytes(copying: bytes)
        }
        return SealingKey(secret: try lift { () throws(OpenSSLError) in try function.derive(secret, count: count) })
    }
}
