import COpenSSL
import Synchronization

/// A symmetric cipher in progress, in either direction.
///
/// libcrypto: `EVP_CipherInit_ex2`, `EVP_CipherUpdate`, `EVP_CipherFinal_ex`
package final class CipherContext {
    /// Parameters to set before the key, if they differ from the cipher's defaults.
    package struct Parameters {
        /// The length of the nonce of an authenticated cipher, in bytes.
        package var nonceCount: Int?
        /// The length of the tag that CCM makes, in bytes.
        package var tagCount: Int?
        /// The expected tag; only CCM needs it before it decrypts.
        package var expectedTag: [UInt8]
        /// The length of the key in bytes, where a cipher takes several.
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

        /// libcrypto: `EVP_CIPHER_CTX_ctrl`, `EVP_CIPHER_CTX_set_key_length`
        fileprivate func apply(to context: OpaquePointer) throws(OpenSSLError) {
            if let nonceCount { try control(context, EVP_CTRL_AEAD_SET_IVLEN, nonceCount) }
            if let tagCount { try control(context, EVP_CTRL_AEAD_SET_TAG, tagCount) }
            if !expectedTag.isEmpty { try CipherContext.expect(expectedTag, context) }
            if let keyCount {
                let result = EVP_CIPHER_CTX_set_key_length(context, CInt(clamping: keyCount))
                try check(result, "EVP_CIPHER_CTX_set_key_length")
            }
            if let effectiveKeyBits { try control(context, EVP_CTRL_SET_RC2_KEY_BITS, effectiveKeyBits) }
        }

        private func control(_ context: OpaquePointer, _ type: CInt, _ value: Int) throws(OpenSSLError) {
            try check(EVP_CIPHER_CTX_ctrl(context, type, CInt(clamping: value), nil), "EVP_CIPHER_CTX_ctrl")
        }
    }

    private let context: Owned<EVP_CIPHER_CTX>
    private let isEncrypting: Bool

    /// Prepares the cipher that libcrypto calls `name`; `key` must have its length unless `parameters` say another one.
    ///
    /// - Parameters:
    ///   - pads: whether a block cipher adds and checks PKCS#7 padding.
    ///   - isLegacy: whether only the legacy provider has the cipher.
    package init(
        _ name: String,
        key: UnsafeRawBufferPointer,
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
            let bytes = key.bindMemory(to: UInt8.self).baseAddress
            let vector = iv.isEmpty ? nil : iv
            try check(EVP_CipherInit_ex2(context, nil, bytes, vector, direction, nil), "EVP_CipherInit_ex2")
            if !pads { EVP_CIPHER_CTX_set_padding(context, 0) }
        }
        self.context = context
        self.isEncrypting = isEncrypting
    }

    private static let known = Mutex<[(name: String, isLegacy: Bool, cipher: Handle<EVP_CIPHER>)]>([])

    /// libcrypto's implementation, fetched once for the process: to look for it takes longer than to encrypt a short text.
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

    /// Authenticates `bytes` without encrypting them.
    package func authenticate(_ bytes: [UInt8]) throws(OpenSSLError) {
        try context.withPointer { context throws(OpenSSLError) in
            var count: CInt = 0
            try check(EVP_CipherUpdate(context, nil, &count, bytes, CInt(bytes.count)), "EVP_CipherUpdate")
        }
    }

    /// Says how many bytes of input will come, which CCM must know first.
    package func announce(count: Int) throws(OpenSSLError) {
        try context.withPointer { context throws(OpenSSLError) in
            var done: CInt = 0
            try check(EVP_CipherUpdate(context, nil, &done, nil, CInt(count)), "EVP_CipherUpdate")
        }
    }

    /// Transforms the whole input at once, also an empty one; for decrypting CCM this checks the tag.
    package func updateOnce(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
        throws(OpenSSLError)
    {
        // A null pointer would have another meaning to libcrypto.
        var spare: (UInt8, UInt8) = (0, 0)
        try context.withPointer { context throws(OpenSSLError) in
            let result = withUnsafeMutablePointer(to: &spare.0) { spare in
                var count: CInt = 0
                return EVP_CipherUpdate(
                    context,
                    output.bindMemory(to: UInt8.self).baseAddress ?? spare,
                    &count,
                    input.bindMemory(to: UInt8.self).baseAddress ?? UnsafePointer(spare),
                    CInt(input.count)
                )
            }
            try check(result, "EVP_CipherUpdate")
        }
    }

    /// Transforms `input` into the front of `output`, which must have room for one block more; returns the count.
    package func update(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
        throws(OpenSSLError) -> Int
    {
        guard !input.isEmpty else { return 0 }
        return try context.withPointer { context throws(OpenSSLError) in
            var count: CInt = 0
            let result = EVP_CipherUpdate(
                context,
                output.bindMemory(to: UInt8.self).baseAddress,
                &count,
                input.bindMemory(to: UInt8.self).baseAddress,
                CInt(input.count)
            )
            try check(result, "EVP_CipherUpdate")
            return Int(count)
        }
    }

    /// Ends the operation, which checks padding or tag when decrypting; returns the last bytes' count.
    package func finish(into output: UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Int {
        try context.withPointer { context throws(OpenSSLError) in
            var count: CInt = 0
            let target = output.bindMemory(to: UInt8.self).baseAddress
            try check(EVP_CipherFinal_ex(context, target, &count), "EVP_CipherFinal_ex")
            return Int(count)
        }
    }

    /// The authentication tag, after `finish` when encrypting.
    package func tag(count: Int) throws(OpenSSLError) -> [UInt8] {
        guard count > 0 else { return [] }
        return try context.withPointer { context throws(OpenSSLError) in
            var tag = [UInt8](repeating: 0, count: count)
            try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(count), &tag), "EVP_CIPHER_CTX_ctrl")
            return tag
        }
    }

    /// Says which tag `finish` must find when decrypting.
    package func expectTag(_ tag: [UInt8]) throws(OpenSSLError) {
        try context.withPointer { context throws(OpenSSLError) in try Self.expect(tag, context) }
    }

    private static func expect(_ tag: [UInt8], _ context: OpaquePointer) throws(OpenSSLError) {
        var tag = tag
        let result = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(clamping: tag.count), &tag)
        try check(result, "EVP_CIPHER_CTX_ctrl")
    }
}
