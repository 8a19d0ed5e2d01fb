import LibCrypto

extension SecretBytes {
    /// Decodes the base64 in `lines` without leaving another copy in memory.
    ///
    /// - Throws: `CMSError.malformed` if the lines are not base64.
    static func decoded(_ lines: ArraySlice<ArraySlice<UInt8>>, label: String) throws(CMSError) -> SecretBytes {
        let decoded: SecretBytes?
        do throws(OpenSSLError) { decoded = try SecretBytes(base64: lines) } catch { throw .openSSL(error) }
        guard let decoded else { throw .malformed(.pem, "\(label) is not base64") }
        return decoded
    }
}
