import ByteStreams
import COpenSSL
import Synchronization

/// An operation of a symmetric cipher, encryption or decryption.
///
/// libcrypto: `EVP_CipherInit_ex2`, `EVP_CipherUpdate`, `EVP_CipherFinal_ex`
package final class CipherContext {
    /// Parameters to set before the key, if they differ from the cipher's defaults.
    package struct Parameters {
        /// The length of the nonce of an authenticated cipher, in bytes.
        package var nonceCount: Int?
        /// The length of the tag that CCM computes, in bytes.
        package var tagCount: Int?
        /// The expected tag. Only CCM needs the tag before decryption.
        package var expectedTag: [UInt8]
        /// The length of the key in bytes, for ciphers with keys of several lengths.
        package var keyCount: Int?
        /// The effective length of RC2's key, in bits.
        package var effectiveKeyBits: Int?

        package init(
            nonceCount: Int? = nil,
            tagCount: Int? = nil,
            expectedTag: [UInt8] = [],
            keyCount: Int? = nil,
            effectiveKeyBits: Int? = nil
        ) {
            (self.nonceCount, self.tagCount, self.expectedTag) = (nonceCount, tagCount, expectedTag)
            (self.keyCount, self.effectiveKeyBits) = (keyCount, effectiveKeyBits)
        }

        /// Sets the parameters in `context`.
        ///
        /// libcrypto: `EVP_CIPHER_CTX_ctrl`, `EVP_CIPHER_CTX_set_key_length`
        fileprivate func apply(to context: OpaquePointer) throws(OpenSSLError) {
            if let nonceCount { try control(context, EVP_CTRL_AEAD_SET_IVLEN, value: nonceCount) }
            if let tagCount { try control(context, EVP_CTRL_AEAD_SET_TAG, value: tagCount) }
            if !expectedTag.isEmpty { try CipherContext.expect(expectedTag, context) }
            if let keyCount {
                let result = EVP_CIPHER_CTX_set_key_length(context, CInt(clamping: keyCount))
                try check(result, "EVP_CIPHER_CTX_set_key_length")
            }
            if let effectiveKeyBits { try control(context, EVP_CTRL_SET_RC2_KEY_BITS, value: effectiveKeyBits) }
        }

        private func control(_ context: OpaquePointer, _ type: CInt, value: Int) throws(OpenSSLError) {
            try check(EVP_CIPHER_CTX_ctrl(context, type, CInt(clamping: value), nil), "EVP_CIPHER_CTX_ctrl")
        }
    }

    private let context: Owned<EVP_CIPHER_CTX>
    private let isEncrypting: Bool

    /// Prepares the cipher with the libcrypto name `name`. `key` must have the cipher's key length, or the key length in
    /// `parameters`.
    ///
    /// - Parameters:
    ///   - pads: whether a block cipher adds and checks PKCS#7 padding.
    ///   - isLegacy: whether the cipher is only in the legacy provider.
    package init(
        _ name: String,
        key: Span<UInt8>,
        iv: [UInt8],
        isEncrypting: Bool,
        pads: Bool = true,
        isLegacy: Bool = false,
        parameters: Parameters = Parameters()
    ) throws(OpenSSLError) {
        Libcrypto.start()
        let cipher = try Self.fetched(name, isLegacy: isLegacy)
        let context = try Owned<EVP_CIPHER_CTX>(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let direction: CInt = isEncrypting ? 1 : 0
        try withPointers(context, cipher.owned) { context, cipher throws(OpenSSLError) in
            EVP_CIPHER_CTX_set_flags(context, CInt(EVP_CIPHER_CTX_FLAG_WRAP_ALLOW))
            try check(EVP_CipherInit_ex2(context, cipher, nil, nil, direction, nil), "EVP_CipherInit_ex2")
            try parameters.apply(to: context)
            guard EVP_CIPHER_CTX_get_key_length(context) == key.count else {
                throw OpenSSLError("EVP_CipherInit_ex2")
            }
            let vector = iv.isEmpty ? nil : iv
            let result = key.withUnsafeBufferPointer {
                EVP_CipherInit_ex2(context, nil, $0.baseAddress, vector, direction, nil)
            }
            try check(result, "EVP_CipherInit_ex2")
            if !pads { EVP_CIPHER_CTX_set_padding(context, 0) }
        }
        self.context = context
        self.isEncrypting = isEncrypting
    }

    private static let known = Mutex<[(name: String, isLegacy: Bool, cipher: Handle<EVP_CIPHER>)]>([])

    /// libcrypto's implementation of a cipher, fetched once per process, because fetching takes longer than encrypting a
    /// short text.
    ///
    /// libcrypto: `EVP_CIPHER_fetch`
    private static func fetched(_ name: String, isLegacy: Bool) throws(OpenSSLError) -> Handle<EVP_CIPHER> {
        let known = known.withLock { $0.first { $0.name == name && $0.isLegacy == isLegacy } }
        if let known { return known.cipher }
        let library = isLegacy ? try Libcrypto.legacy() : nil
        let cipher = Handle(try Owned<EVP_CIPHER>(EVP_CIPHER_fetch(library, name, nil), "EVP_CIPHER_fetch"))
        Self.known.withLock { $0.append((name, isLegacy, cipher)) }
        return cipher
    }

    /// Authenticates `bytes` without encrypting them (additional authenticated data).
    package func authenticate(_ bytes: [UInt8]) throws(OpenSSLError) {
        try context.withPointer { context throws(OpenSSLError) in
            var count: CInt = 0
            try check(EVP_CipherUpdate(context, nil, &count, bytes, CInt(bytes.count)), "EVP_CipherUpdate")
        }
    }

    /// Sets the number of input bytes. CCM must know this number before the first byte.
    package func announce(count: Int) throws(OpenSSLError) {
        try context.withPointer { context throws(OpenSSLError) in
            var done: CInt = 0
            try check(EVP_CipherUpdate(context, nil, &done, nil, CInt(count)), "EVP_CipherUpdate")
        }
    }

    /// Transforms the whole input, which may be empty, in one call. When CCM decrypts, this call checks the tag.
    package func updateOnce(_ input: Span<UInt8>, into output: inout MutableSpan<UInt8>) throws(OpenSSLError) {
        precondition(output.count >= input.count)
        let start = ContinuousClock.now
        defer { CryptoTime.count(isEncrypting ? .encrypt : .decrypt, since: start) }
        // A null pointer would have another meaning to libcrypto.
        var spare: UInt8 = 0
        try context.withPointer { context throws(OpenSSLError) in
            var count: CInt = 0
            let result = withUnsafeMutablePointer(to: &spare) { spare in
                input.withUnsafeBufferPointer { input in
                    output.withUnsafeMutableBufferPointer { output in
                        EVP_CipherUpdate(
                            context,
                            output.baseAddress ?? spare,
                            &count,
                            input.baseAddress ?? UnsafePointer(spare),
                            CInt(input.count)
                        )
                    }
                }
            }
            try check(result, "EVP_CipherUpdate")
        }
    }

    /// The number of bytes that libcrypto may write in addition to the length of the input: the block size, or 0 for a stream
    /// cipher and for modes that turn a block cipher into a stream cipher.
    ///
    /// libcrypto: `EVP_CIPHER_CTX_get_block_size`
    private var spareCount: Int {
        context.withPointer { context in
            let count = Int(EVP_CIPHER_CTX_get_block_size(context))
            return count > 1 ? count : 0
        }
    }

    /// Transforms `input` and writes the result to the front of `output`, which must be one block longer than `input`
    /// (for a stream cipher, as long as `input`). Returns the number of bytes written.
    package func update(_ input: Span<UInt8>, into output: inout MutableSpan<UInt8>) throws(OpenSSLError) -> Int {
        guard !input.isEmpty else { return 0 }
        precondition(output.count >= input.count + spareCount)
        let start = ContinuousClock.now
        defer { CryptoTime.count(isEncrypting ? .encrypt : .decrypt, since: start) }
        return try context.withPointer { context throws(OpenSSLError) in
            var count: CInt = 0
            let result = input.withUnsafeBufferPointer { input in
                output.withUnsafeMutableBufferPointer {
                    EVP_CipherUpdate(context, $0.baseAddress, &count, input.baseAddress, CInt(input.count))
                }
            }
            try check(result, "EVP_CipherUpdate")
            return Int(count)
        }
    }

    /// Ends the operation, and writes the last bytes to `output`, which must have room for a block (none for a stream cipher).
    /// When decrypting, checks the padding or the tag. Returns the number of bytes written.
    package func finish(into output: inout MutableSpan<UInt8>) throws(OpenSSLError) -> Int {
        precondition(output.count >= spareCount)
        return try context.withPointer { context throws(OpenSSLError) in
            var count: CInt = 0
            let result = output.withUnsafeMutableBufferPointer { EVP_CipherFinal_ex(context, $0.baseAddress, &count) }
            try check(result, "EVP_CipherFinal_ex")
            return Int(count)
        }
    }

    /// Transforms the whole of `input` and ends the operation. If the result is secret, the caller must wipe it; if the
    /// operation fails, nothing of the result stays in memory.
    package func whole(_ input: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: input.count + 32)
        do throws(OpenSSLError) {
            let total = try transform(input, into: &output)
            output.removeLast(output.count - total)
            return output
        } catch {
            output.wipe()
            throw error
        }
    }

    private func transform(_ input: Span<UInt8>, into output: inout [UInt8]) throws(OpenSSLError) -> Int {
        var bytes = output.mutableOctets
        let count = try update(input, into: &bytes)
        var rest = bytes.piece(count..<bytes.count)
        return count + (try finish(into: &rest))
    }

    /// The authentication tag. When encrypting, available after `finish`.
    package func tag(count: Int) throws(OpenSSLError) -> [UInt8] {
        guard count > 0 else { return [] }
        return try context.withPointer { context throws(OpenSSLError) in
            var tag = [UInt8](repeating: 0, count: count)
            try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(count), &tag), "EVP_CIPHER_CTX_ctrl")
            return tag
        }
    }

    /// Sets the tag that `finish` must find when decrypting.
    package func expectTag(_ tag: [UInt8]) throws(OpenSSLError) {
        try context.withPointer { context throws(OpenSSLError) in try Self.expect(tag, context) }
    }

    private static func expect(_ tag: [UInt8], _ context: OpaquePointer) throws(OpenSSLError) {
        var tag = tag
        let result = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(clamping: tag.count), &tag)
        try check(result, "EVP_CIPHER_CTX_ctrl")
    }
}
