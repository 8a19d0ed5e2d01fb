import COpenSSL

/// A symmetric cipher in progress, in either direction.
///
/// libcrypto: `EVP_CipherInit_ex2`, `EVP_CipherUpdate`, `EVP_CipherFinal_ex`
package final class CipherContext {
    private let context: Owned<EVP_CIPHER_CTX>
    private let isEncrypting: Bool

    /// Prepares `cipher`; `key` must have the cipher's length unless `setUp` changes it.
    ///
    /// - Parameters:
    ///   - pads: whether a block cipher adds and checks PKCS#7 padding.
    ///   - setUp: called after the cipher is known and before key and IV are, to set lengths.
    init(
        _ name: String,
        key: UnsafeRawBufferPointer,
        iv: [UInt8],
        isEncrypting: Bool,
        library: OpaquePointer? = nil,
        pads: Bool = true,
        setUp: (OpaquePointer) throws(OpenSSLError) -> Void = { _ throws(OpenSSLError) in }
    ) throws(OpenSSLError) {
        Libcrypto.start()
        let cipher = try Owned<EVP_CIPHER>(EVP_CIPHER_fetch(library, name, nil), "EVP_CIPHER_fetch")
        let context = try Owned<EVP_CIPHER_CTX>(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let direction: CInt = isEncrypting ? 1 : 0
        try withPointers(context, cipher) { context, cipher throws(OpenSSLError) in
            EVP_CIPHER_CTX_set_flags(context, CInt(EVP_CIPHER_CTX_FLAG_WRAP_ALLOW))
            try check(EVP_CipherInit_ex2(context, cipher, nil, nil, direction, nil), "EVP_CipherInit_ex2")
            try setUp(context)
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

    /// Transforms all of the input at once, be it empty; for decrypting CCM this is where the tag is checked.
    package func updateOnce(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
        throws(OpenSSLError)
    {
        // No pointer at all would mean something else to libcrypto.
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
    func expectTag(_ tag: [UInt8]) throws(OpenSSLError) {
        var tag = tag
        try context.withPointer { context throws(OpenSSLError) in
            let result = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(tag.count), &tag)
            try check(result, "EVP_CIPHER_CTX_ctrl")
        }
    }
}
