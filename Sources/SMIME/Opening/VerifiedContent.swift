package import ByteStreams
import InternetMessage

/// The result of verifying a message: the report, and the content of the first signature.
package struct VerifiedContent: Sendable {
    /// The report.
    package let report: VerificationReport
    /// The message to learn from; nil unless it is valid, whole, and signed by one person.
    package let learnable: VerifiedMessage?
    private let content: SignedBytes?

    /// Takes the result of `verification`.
    ///
    /// - Parameter header: the header of the message; nil for a bare CMS object, from which nothing is learned.
    init(_ verification: Verification, header: HeaderBlock?) {
        let report = verification.report.report
        self.report = report
        learnable = header.flatMap { MessageOpener.learnable(report, header: $0) }
        content = verification.content
    }

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

/// The state of a verification.
struct Verification: Sendable {
    var report = ReportBuilder()
    /// The content that the first signature is about.
    var content: SignedBytes?
}
