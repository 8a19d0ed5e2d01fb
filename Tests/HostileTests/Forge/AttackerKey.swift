import COpenSSL
import Foundation
import TestSupport

/// A private key of an attacker. It uses raw operations of libcrypto instead of our own code, so it can violate every rule.
final class AttackerKey: Sendable {
    struct Failure: Error { let operation: String }

    /// Not modified after `init`.
    private nonisolated(unsafe) let pointer: OpaquePointer

    /// Reads the PEM file `certs/NAME`.
    init(_ name: String) throws {
        let bytes = try Fixtures.cert(name)
        let bio = BIO_new_mem_buf(bytes, CInt(bytes.count))
        defer { BIO_free(bio) }
        guard let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil) else { throw Failure(operation: name) }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }

    enum Padding { case none, pkcs1, pss }

    /// Signs `bytes`; `digest` is nil for Ed25519.
    func sign(_ bytes: [UInt8], digest: String? = "SHA256", padding: Padding = .none) throws -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var options: OpaquePointer?
        try check(EVP_DigestSignInit_ex(context, &options, digest, nil, nil, pointer, nil), "sign")
        if padding == .pss {
            try check(EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING), "padding")
            try check(EVP_PKEY_CTX_set_rsa_pss_saltlen(options, 32), "salt")
        }
        var count = 0
        try check(EVP_DigestSign(context, nil, &count, bytes, bytes.count), "sign")
        var signature = [UInt8](repeating: 0, count: count)
        try check(EVP_DigestSign(context, &signature, &count, bytes, bytes.count), "sign")
        return Array(signature.prefix(count))
    }

    /// `block` raised to the public exponent, without any padding.
    func encryptRaw(_ block: [UInt8]) throws -> [UInt8] {
        try encrypt(block) { EVP_PKEY_CTX_set_rsa_padding($0, RSA_NO_PADDING) }
    }

    /// Encrypts `value` with RSAES-PKCS1-v1_5.
    func encrypt(_ value: [UInt8]) throws -> [UInt8] {
        try encrypt(value) { EVP_PKEY_CTX_set_rsa_padding($0, RSA_PKCS1_PADDING) }
    }

    private func encrypt(_ value: [UInt8], _ setUp: (OpaquePointer?) -> CInt) throws -> [UInt8] {
        let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil)
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_encrypt_init(context), "encrypt")
        try check(setUp(context), "padding")
        var count = 0
        try check(EVP_PKEY_encrypt(context, nil, &count, value, value.count), "encrypt")
        var output = [UInt8](repeating: 0, count: count)
        try check(EVP_PKEY_encrypt(context, &output, &count, value, value.count), "encrypt")
        return Array(output.prefix(count))
    }

    /// The DER of the public key.
    var publicKeyInfo: [UInt8] {
        var encoding: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(pointer, &encoding)
        defer { CRYPTO_free(encoding, nil, 0) }
        return Array(UnsafeBufferPointer(start: encoding, count: Int(max(count, 0))))
    }
}

/// Symmetric cryptography without any checks.
enum Attacker {
    static func digest(_ bytes: [UInt8], _ name: String) throws -> [UInt8] {
        var value = [UInt8](repeating: 0, count: 64)
        var count = 0
        try check(EVP_Q_digest(nil, name, nil, bytes, bytes.count, &value, &count), "digest")
        return Array(value.prefix(count))
    }

    /// Encrypts `bytes` and appends the tag, if any. If `isPadded` is false, the caller adds the padding.
    static func encrypt(
        _ bytes: [UInt8],
        _ cipher: String,
        key: [UInt8],
        iv: [UInt8],
        additional: [UInt8] = [],
        tagCount: Int = 0,
        isPadded: Bool = true
    ) throws -> (ciphertext: [UInt8], tag: [UInt8]) {
        let method = EVP_CIPHER_fetch(nil, cipher, nil)
        let context = EVP_CIPHER_CTX_new()
        defer {
            EVP_CIPHER_free(method)
            EVP_CIPHER_CTX_free(context)
        }
        try check(EVP_CipherInit_ex2(context, method, nil, nil, 1, nil), cipher)
        if tagCount > 0 {
            try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, CInt(iv.count), nil), "iv")
        }
        try check(EVP_CipherInit_ex2(context, nil, key, iv, 1, nil), cipher)
        if !isPadded { try check(EVP_CIPHER_CTX_set_padding(context, 0), "padding") }
        var count: CInt = 0
        if !additional.isEmpty {
            try check(EVP_CipherUpdate(context, nil, &count, additional, CInt(additional.count)), cipher)
        }
        var output = [UInt8](repeating: 0, count: bytes.count + 64)
        try check(EVP_CipherUpdate(context, &output, &count, bytes, CInt(bytes.count)), cipher)
        var last: CInt = 0
        try output.withUnsafeMutableBufferPointer { buffer in
            try check(EVP_CipherFinal_ex(context, buffer.baseAddress.map { $0 + Int(count) }, &last), cipher)
        }
        var tag = [UInt8](repeating: 0, count: tagCount)
        if tagCount > 0 {
            try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(tagCount), &tag), "tag")
        }
        return (Array(output.prefix(Int(count + last))), tag)
    }
}

private func check(_ result: CInt, _ operation: String) throws {
    guard result > 0 else { throw AttackerKey.Failure(operation: operation) }
}
