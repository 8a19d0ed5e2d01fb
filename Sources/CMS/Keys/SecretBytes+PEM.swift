import COpenSSL
import SwiftASN1

extension SecretBytes {
    /// A copy of `bytes`, which stay the caller's to wipe.
    convenience init(copying bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// What base64 in `lines` stands for, decoded into its place: no other copy is left of it.
    ///
    /// libcrypto: `EVP_DecodeUpdate`
    ///
    /// - Throws: `CMSError.malformed` if it is not base64.
    static func decoded(_ lines: ArraySlice<ArraySlice<UInt8>>, label: String) throws(CMSError) -> SecretBytes {
        let room = lines.reduce(0) { $0 + $1.count } / 4 * 3 + 3
        var count = 0
        let padded = try SecretBytes(count: room) { output throws(CMSError) in
            count = try decode(lines, into: output, label)
        }
        return padded.withBytes { SecretBytes(copying: $0.prefix(count)) }
    }

    private static func decode(
        _ lines: ArraySlice<ArraySlice<UInt8>>,
        into output: UnsafeMutableRawBufferPointer,
        _ label: String
    ) throws(CMSError) -> Int {
        Libcrypto.start()
        defer { ERR_clear_error() }
        let context = try lift { () throws(OpenSSLError) in
            try Owned<EVP_ENCODE_CTX>(EVP_ENCODE_CTX_new(), "EVP_ENCODE_CTX_new")
        }
        let target = output.bindMemory(to: UInt8.self).baseAddress
        let count = context.withPointer { context -> Int? in
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
        guard let count else { throw .malformed(.pem, "\(label) is not base64") }
        return count
    }
}
