import LibCrypto

extension SecretBytes {
    /// Decodes the base64 in `lines` in place, so that no other copy is left.
    ///
    /// - Throws: `CMSError.malformed` if it is not base64.
    static func decoded(_ lines: ArraySlice<ArraySlice<UInt8>>, label: String) throws(CMSError) -> SecretBytes {
        let decoded: SecretBytes?
        do throws(OpenSSLError) { decoded = try SecretBytes(base64: lines) } catch { throw .openSSL(error) }
        guard let decoded else { throw .malformed(.pem, "\(label) is not base64") }
        return decoded
    }
}
