package import ByteStreams
import CMSSyntax
package import InternetMessage

/// A message after all its layers were opened and checked: its content, and how it was protected.
public struct OpenedMessage: Sendable {
    /// The layers, and the verdict on every signature.
    public let report: VerificationReport
    /// The message as evidence from which the store may learn; nil unless it is valid, signed as a whole, and signed by one
    /// person.
    package let learnable: VerifiedMessage?
    /// Whether signatures stay in the output: the caller requested it, or the message is written as received.
    package let keepsSignature: Bool
    private let source: any ByteSource
    private let header: HeaderBlock?
    private let protected: ProtectedHeader?
    private let part: LocatedEntity?
    private let plaintext: Plaintext?
    /// The headers of decrypted layers around the innermost header, the outermost first.
    private let between: [HeaderBlock]
    /// Whether the message had no encrypted or compressed layer. It is then written as received, except for line ends that
    /// the caller requests.
    private let isAsReceived: Bool

    /// The addresses in To and Cc inside the protection; nil if there are none.
    package var protectedRecipients: Set<EmailAddress>? {
        let named = ["To", "Cc"].compactMap { protected?.addresses($0) }.reduce(Set()) { $0.union($1) }
        return named.isEmpty ? nil : named
    }

    /// A message without encryption and compression, which is written as received.
    init(asReceived source: any ByteSource, header: HeaderBlock, _ verified: VerifiedContent) {
        (report, learnable) = (verified.report, verified.learnable)
        (self.source, self.header) = (source, header)
        (protected, part, plaintext, between) = (nil, nil, nil, [])
        (isAsReceived, keepsSignature) = (true, true)
    }

    init(
        report: VerificationReport,
        source: any ByteSource,
        header: HeaderBlock?,
        protected: ProtectedHeader?,
        part: LocatedEntity?,
        plaintext: Plaintext?,
        between: [HeaderBlock],
        keepsSignature: Bool
    ) {
        self.report = report
        learnable = header.flatMap { MessageOpener.learnable(report, header: $0) }
        self.source = source
        self.header = header
        self.protected = protected
        self.part = part
        self.plaintext = plaintext
        self.between = between
        isAsReceived = false
        self.keepsSignature = keepsSignature
    }

    /// Writes the innermost message: the header with the protected fields, and the inner body.
    ///
    /// - Parameters:
    ///   - lineEnd: the line ends to write; nil uses those of the received message. Binary parts are not changed.
    ///   - isGateway: whether only protected fields that people read, such as Subject, From and Date, are restored. The outer
    ///     fields of scanners and lists are then not replaced.
    /// - Throws: errors of reading and writing; `StreamError.changedWhileReading` or `CMSError.decryptionFailed` if the
    ///   message changed after it was checked, in which case the output must not be used.
    package func write(to sink: any ByteSink, lineEnd: LineEnd? = nil, isGateway: Bool = false) throws {
        try source.checkUnchanged()
        // Content that is decrypted a second time to be output must be the content that was checked.
        let sink = ClosureSink { [source] bytes in
            try source.checkUnchanged()
            try sink.write(bytes)
        }
        let extent = isGateway ? ProtectedHeader.Extent.gateway : .all
        if isAsReceived {
            try (lineEnd.map { source.stream().lines(endingIn: $0) } ?? source.stream()).makeReader().copy(to: sink)
        } else if let part {
            try write(part, to: sink, lineEnd, extent: extent)
        } else if let plaintext {
            try write(plaintext, to: sink, lineEnd, extent: extent)
        }
        try source.checkUnchanged()
    }

    private func write(
        _ part: LocatedEntity,
        to sink: any ByteSink,
        _ lineEnd: LineEnd?,
        extent: ProtectedHeader.Extent
    ) throws {
        guard let target = lineEnd ?? header?.lineEnd else {
            return _ = try part.source.reader(in: part.entity.range).copy(to: sink)
        }
        try writeHeader(part.entity.header, to: sink, target, extent: extent)
        let body = part.entity.stream(of: part.source, range: part.entity.bodyRange, lineEnd: target)
        try body.makeReader().copy(to: sink)
    }

    private func write(
        _ plaintext: Plaintext,
        to sink: any ByteSink,
        _ lineEnd: LineEnd?,
        extent: ProtectedHeader.Extent
    ) throws {
        guard let inner = plaintext.header, let target = lineEnd ?? header?.lineEnd else {
            return _ = try plaintext.content.stream.makeReader().copy(to: sink)
        }
        let isKept = lineEnd == nil && target == .crlf
        if !isKept, try plaintext.marks().mayHoldBinary {
            return try write(try plaintext.spooled(), to: sink, target, extent: extent)
        }
        try writeHeader(inner, to: sink, target, extent: extent)
        let body = plaintext.content.stream.dropFirst(plaintext.bodyStart)
        try (isKept ? body : body.lines(endingIn: target)).makeReader().copy(to: sink)
    }

    /// Whether the outer From is not replaced, because there is no inner From, programs may read it in different ways, or it
    /// differs and is not verified.
    ///
    /// RFC 9788 §4.4
    private var keepsFrom: Bool {
        guard let header, let protected else { return false }
        guard let inner = AuthorReading(protected.header).soleAddress else { return true }
        guard inner != AuthorReading(header).soleAddress else { return false }
        guard !report.isMalformed, report.coverage == .whole, report.problems.allSatisfy({ $0.level != .error }) else {
            return true
        }
        return !report.signers.contains { signer in
            signer.integrity.ok == true && signer.chain.ok == true && signer.time.ok == true
                && signer.revocation.ok != false && !signer.isIdentityUnclear
                && signer.certificate?.mailAddresses.contains(inner) == true
        }
    }

    private func writeHeader(
        _ inner: HeaderBlock,
        to sink: any ByteSink,
        _ lineEnd: LineEnd,
        extent: ProtectedHeader.Extent
    ) throws {
        let bytes =
            try header.map { outer in
                try shown(above: inner, outer)?.restored(into: outer, keepingFrom: keepsFrom, extent)
                    ?? HeaderSplit.join(
                        outer: outer,
                        inner: keepsSignature ? try inner.asMessage() : inner,
                        extent,
                        between: between
                    )
            } ?? inner.bytes + inner.lineEnd.bytes
        try MemorySource(bytes).stream().lines(endingIn: lineEnd).makeReader().copy(to: sink)
    }

    /// The protected fields that replace outer fields; nil if there are none. If a signature stays in the message, only the
    /// fields that are hidden outside.
    private func shown(above inner: HeaderBlock, _ outer: HeaderBlock) throws(MIMEError) -> ProtectedHeader? {
        guard let protected else { return nil }
        guard keepsSignature else { return try protected.with(header: inner) }
        return try protected.hiddenFields(outer: outer, above: inner)
    }
}

/// The result of verifying a message: the report, and the content of the first signature.
package struct VerifiedContent: Sendable {
    /// The verdict on each signature, and the problems of the message.
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

    /// Writes the content of the first signature with exactly the bytes that were hashed.
    ///
    /// - Returns: false if there is no signed content or a signature does not match it; then nothing is written.
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
