package import ByteStreams
import InternetMessage

/// The result of verifying a message: the report, and the content of the first signature.
package struct VerifiedContent: Sendable {
    /// The report.
    package let report: VerificationReport
    /// The message as evidence from which the store may learn; nil unless it is valid, signed as a whole, and signed by one
    /// person.
    package let learnable: VerifiedMessage?
    private let content: SignedBytes?

    /// The result of `verification`.
    ///
    /// - Parameter header: the header of the message; nil for a bare CMS object, from which nothing is learned.
    init(_ verification: Verification, header: HeaderBlock?) {
        let report = verification.report.report
        self.report = report
        learnable = header.flatMap { MessageOpener.learnable(report, header: $0) }
        content = verification.content
    }

    /// Whether there is signed content that all signatures match.
    var hasContent: Bool {
        content != nil && !report.signers.isEmpty && report.signers.allSatisfy { $0.integrity.ok == true }
    }

    /// Writes the signed MIME entity with exactly the bytes that were hashed.
    ///
    /// - Returns: false if there is no signed entity or a signature does not match the content; then nothing is written.
    /// - Throws: `StreamError.changedWhileReading` if the content may have changed after it was hashed, and errors of
    ///   writing.
    package func writeContent(to sink: any ByteSink) throws -> Bool {
        guard let content, hasContent else { return false }
        try content.stream.makeReader().copy(to: sink)
        try content.source.checkUnchanged()
        return true
    }
}

/// The state of a verification.
struct Verification: Sendable {
    var report = ReportBuilder()
    /// The content that the first signature covers; nil if there is none.
    var content: SignedBytes?
}
