package import LibCrypto
import SwiftASN1

/// A private key in the form in which a file stores it, encrypted or not.
///
/// PKCS#8 (RFC 5958), RSAPrivateKey (RFC 8017 appendix A.1.2), ECPrivateKey (RFC 5915), and the traditional PEM encryption of
/// OpenSSL.
package struct EncodedPrivateKey: Sendable {
    enum Encoding: Sendable {
        case encryptedPKCS8([UInt8])
        case pkcs8(SecretBytes)
        /// The DER of an RSAPrivateKey, an ECPrivateKey or a traditional DSA key.
        case traditional(SecretBytes)
        /// The whole PEM block, including the header fields that describe its encryption.
        case traditionalEncryptedPEM([UInt8])
    }

    let encoding: Encoding

    /// Whether a passphrase is needed.
    package var isEncrypted: Bool {
        switch encoding {
        case .encryptedPKCS8, .traditionalEncryptedPEM: true
        case .pkcs8, .traditional: false
        }
    }

    /// The default for the maximum number of key derivation iterations in an encrypted PKCS#8 key.
    package static let maximumIterations = DerivationBudget.maximumIterations

    /// Decrypts and parses the key.
    ///
    /// - Parameter maximumIterations: the maximum number of key derivation iterations that encrypted PKCS#8 may specify. Up
    ///   to twice as many are run.
    /// - Throws: `CMSError.wrongPassphrase`, also if a required passphrase is absent; `.limitExceeded` for too many iterations,
    ///   before any derivation, or for an RSA key of more than 16,384 bits; `.malformed`, also if private and public key do
    ///   not belong together; `.unsupported` for a key whose algorithm is not supported.
    package func decode(
        passphrase: borrowing Passphrase?,
        maximumIterations: Int = EncodedPrivateKey.maximumIterations
    ) throws(CMSError) -> PrivateKey {
        let budget = DerivationBudget(allowing: maximumIterations)
        let key = try opened(passphrase, budget)
        try key.checkPair()
        return key
    }

    private func opened(
        _ passphrase: borrowing Passphrase?,
        _ budget: DerivationBudget
    ) throws(CMSError) -> PrivateKey {
        switch encoding {
        case .pkcs8(let secret):
            var bytes = secret.copied()
            defer { bytes.wipe() }
            return try PrivateKey(pkcs8: bytes)
        case .traditional(let secret): return try PrivateKey(traditional: secret)
        case .encryptedPKCS8(let bytes):
            return try PrivateKey(encryptedPKCS8: bytes, forms: PassphraseForm.all(for: passphrase), budget: budget)
        case .traditionalEncryptedPEM(let text):
            switch passphrase {
            case .none: throw .wrongPassphrase
            case .some(let passphrase): return try PrivateKey(encryptedPEM: text, passphrase: passphrase)
            }
        }
    }
}

extension PrivateKey {
    /// Reads the first private key in a PEM or DER file.
    package init(pem: [UInt8], passphrase: borrowing Passphrase?) throws(CMSError) {
        for case .privateKey(let key) in try KeyMaterial.read(pem) {
            self = try key.decode(passphrase: passphrase)
            return
        }
        throw .malformed(.privateKey, "the file contains no private key")
    }

    /// Reads a private key in DER: PKCS#8, encrypted PKCS#8, or the traditional formats of RSA, EC and DSA keys.
    package init(der: [UInt8], passphrase: borrowing Passphrase?) throws(CMSError) {
        try self.init(pem: der, passphrase: passphrase)
    }

    init(traditional secret: SecretBytes) throws(CMSError) {
        var bytes = secret.copied()
        defer { bytes.wipe() }
        let shape = (try? ElementExtent.elements(of: bytes, limit: 9))?.map(\.identifier) ?? []
        // This is PKCS#8 with another PEM label; libcrypto would accept it as well.
        if shape.starts(with: [0x02, 0x30]) {
            self = try PrivateKey(pkcs8: bytes)
            return
        }
        // A traditional DSA key has six numbers and an RSA key nine; an EC key begins with one number.
        guard shape != [0x02, 0x02, 0x02, 0x02, 0x02, 0x02] || bytes.count <= PrivateKey.maximumDSACount else {
            throw .unsupported("private key of algorithm dsa")
        }
        let handle: Handle<EVP_PKEY>
        do throws(OpenSSLError) { handle = try Handle(traditional: secret) } catch {
            throw .malformed(.privateKey, "\(error)")
        }
        try self.init(handle)
    }

    /// Opens an EncryptedPrivateKeyInfo with the first form of the passphrase that succeeds.
    init(encryptedPKCS8 bytes: [UInt8], forms: [PassphraseForm], budget: DerivationBudget) throws(CMSError) {
        let (scheme, ciphertext) = try parsing(.privateKey) {
            var fields = try ElementReader(ASN1Node.read(bytes))
            let scheme = try PasswordEncryption(AlgorithmIdentifier(berEncoded: fields.next(.sequence)))
            return (scheme, try fields.next(.octetString).octets())
        }
        var budget = budget
        let cost = try scheme.cost()
        try budget.spend(cost)
        var last: PasswordEncryption.DerivedKey?
        for (index, form) in forms.enumerated() where index == 0 || budget.trySpendAgain(cost) {
            guard var pkcs8 = try scheme.decrypt(ciphertext, with: form, reusing: &last) else { continue }
            defer { pkcs8.wipe() }
            guard (try? ElementExtent(of: pkcs8).count) == pkcs8.count else { continue }
            self = try PrivateKey(pkcs8: pkcs8)
            return
        }
        throw .wrongPassphrase
    }

    /// Opens a PEM block with OpenSSL's traditional encryption.
    init(encryptedPEM text: [UInt8], passphrase: borrowing Passphrase) throws(CMSError) {
        guard let handle = Handle(encryptedPEM: text, passphrase: passphrase) else { throw .wrongPassphrase }
        try self.init(handle)
    }
}
