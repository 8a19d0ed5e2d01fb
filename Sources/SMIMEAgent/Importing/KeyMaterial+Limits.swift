package import ByteStreams
package import PKIX

extension KeyMaterial {
    /// The limit for a file that begins with `head`; nil for mail, which may be of any size. For `Input.open`.
    package static func limit(for head: any ByteSource) throws -> Int? {
        try MailSources.beginsAsMail(head) ? nil : maximumFileBytes
    }

    /// Rejects a file of keys or certificates that is too big.
    ///
    /// - Throws: `AgentError.tooBigForKeys`
    package static func checkSize(of source: any ByteSource, at path: String) throws {
        guard source.count > maximumFileBytes, try !MailSources.beginsAsMail(source) else { return }
        throw AgentError.tooBigForKeys(file: path)
    }
}
