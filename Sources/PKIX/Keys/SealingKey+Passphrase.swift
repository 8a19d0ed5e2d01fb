package import LibCrypto

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
    ///   `.limitExceeded` if the parameters require more than 32 MiB of memory.
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
