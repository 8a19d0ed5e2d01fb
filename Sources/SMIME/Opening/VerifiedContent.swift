package import ByteStreams
import InternetMessage

/// What verifying a message gave: the report, and the content that the first signature is about.
package struct VerifiedContent: Sendable {
    /// The verdict, with all that it rests on.
    package let report: VerificationReport
    /// What may be learned from it; nil unless it is valid, whole, and signed by one person.
    package let learnable: VerifiedMessage?
    private let content: SignedBytes?

    /// What came of verifying.
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

/// What verifying found so far.
struct Verification: Sendable {
    var report = ReportBuilder()
    /// The content that the first signature is about.
    var content: SignedBytes?
}
