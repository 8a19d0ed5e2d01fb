package import ByteStreams

/// What verifying a message gave: the report, and the content that the first signature is about.
package struct VerifiedContent: Sendable {
    /// The verdict, with all that it rests on.
    public internal(set) var report = VerificationReport()
    /// What may be learned from it; nil unless it is valid, whole, and signed by one person.
    public internal(set) var learnable: VerifiedMessage?
    var content: SignedBytes?

    /// Writes the MIME entity that was signed, in the very bytes that were hashed.
    ///
    /// - Returns: false, and nothing is written, if there is none or the integrity of any signature does not hold.
    /// - Throws: `StreamError.changedWhileReading` if it may have changed since it was hashed, and what writing throws.
    package func writeContent(to sink: any ByteSink) throws -> Bool {
        guard let content, !report.signers.isEmpty, report.signers.allSatisfy({ $0.integrity.ok == true }) else {
            return false
        }
        try content.stream.makeReader().copy(to: sink)
        try content.source.checkUnchanged()
        return true
    }
}
