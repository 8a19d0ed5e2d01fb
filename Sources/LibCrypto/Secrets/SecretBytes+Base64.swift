import ByteStreams
import COpenSSL

extension SecretBytes {
    /// Copies `bytes`, which the caller must wipe.
    package convenience init(copying bytes: some Collection<UInt8>) {
        self.init(filling: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Copies `bytes`, which the caller must wipe.
    package convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { $0.copy(bytes) }
    }

    /// Decodes the base64 in `lines` without leaving another copy in memory; nil if the lines are not base64.
    ///
    /// libcrypto: `EVP_DecodeUpdate`
    package convenience init?(base64 lines: ArraySlice<ArraySlice<UInt8>>) throws(OpenSSLError) {
        let room = lines.reduce(0) { $0 + $1.count } / 4 * 3 + 3
        var count: Int?
        let padded = try SecretBytes(filling: room) { output throws(OpenSSLError) in
            count = try Self.decode(lines, into: output)
        }
        guard let count else { return nil }
        self.init(filling: count) { output in padded.withUnsafeBytes { output.copyBytes(from: $0.prefix(count)) } }
    }

    private static func decode(
        _ lines: ArraySlice<ArraySlice<UInt8>>,
        into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) -> Int? {
        Libcrypto.start()
        defer { ERR_clear_error() }
        let context = try Owned<EVP_ENCODE_CTX>(EVP_ENCODE_CTX_new(), "EVP_ENCODE_CTX_new")
        let target = output.bindMemory(to: UInt8.self).baseAddress
        return context.withPointer { context -> Int? in
            var (total, written): (Int, CInt) = (0, 0)
            EVP_DecodeInit(context)
            for line in lines {
                let result = line.withUnsafeBufferPointer { line in
                    EVP_DecodeUpdate(
                        context,
                        target.map { $0 + total },
                        &written,
                        line.baseAddress,
                        CInt(clamping: line.count)
                    )
                }
                guard result >= 0 else { return nil }
                total += Int(written)
            }
            guard EVP_DecodeFinal(context, target.map { $0 + total }, &written) == 1 else { return nil }
            return total + Int(written)
        }
    }
}
