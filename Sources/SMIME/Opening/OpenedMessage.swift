package import ByteStreams
import CMSSyntax
package import InternetMessage

/// A message with all its layers opened and checked: what it says, and how it was protected.
public struct OpenedMessage: Sendable {
    /// The layers, and every signature judged.
    public let report: VerificationReport
    /// The message to learn from; nil unless it is valid, whole, and signed by one person.
    package let learnable: VerifiedMessage?
    /// Whether a signature still encloses the content, as the caller asked for.
    package let keepsSignature: Bool
    private let source: any ByteSource
    private let header: HeaderBlock?
    private let protected: ProtectedHeader?
    private let part: LocatedEntity?
    private let plaintext: Plaintext?
    /// Whether nothing was opened, so that it is written byte for byte.
    private let isAsItCame: Bool

    /// A message in which nothing is encrypted or compressed, and whose content is written as it was received.
    init(asItCame source: any ByteSource, header: HeaderBlock, _ verified: VerifiedContent) {
        (report, learnable) = (verified.report, verified.learnable)
        (self.source, self.header) = (source, header)
        (protected, part, plaintext) = (nil, nil, nil)
        (isAsItCame, keepsSignature) = (true, true)
    }

    init(
        report: VerificationReport,
        source: any ByteSource,
        header: HeaderBlock?,
        protected: ProtectedHeader?,
        part: LocatedEntity?,
        plaintext: Plaintext?,
        keepsSignature: Bool = false
    ) {
        self.report = report
        learnable = header.flatMap { MessageOpener.learnable(report, header: $0) }
        self.source = source
        self.header = header
        self.protected = protected
        self.part = part
        self.plaintext = plaintext
        isAsItCame = false
        self.keepsSignature = keepsSignature
    }

    /// Writes the innermost message: the header with the fields that were protected, and the inner body.
    ///
    /// - Parameters:
    ///   - lineEnd: the line ends to write; those of the message as it came if nil. Binary parts are left alone.
    ///   - isGateway: whether of the protected fields those alone come out that people read, such as Subject, From and Date;
    ///     what scanners and lists wrote outside stays.
    /// - Throws: what reading and writing throw; `StreamError.changedWhileReading` or `CMSError.decryptionFailed` if the
    ///   message changed since it was checked: what was written is then not to be used.
    package func write(to sink: any ByteSink, lineEnd: LineEnd? = nil, isGateway: Bool = false) throws {
        try source.checkUnchanged()
        let extent = isGateway ? ProtectedHeader.Extent.gateway : .all
        if isAsItCame {
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
        if !isKept, plaintext.mayHoldBinary {
            return try write(try plaintext.spooled(), to: sink, target, extent: extent)
        }
        try writeHeader(inner, to: sink, target, extent: extent)
        let body = plaintext.content.stream.dropFirst(plaintext.bodyStart)
        try (isKept ? body : body.lines(endingIn: target)).makeReader().copy(to: sink)
    }

    /// Whether the outer From stays: the inner one differs and is not verified.
    ///
    /// RFC 9788 §4.4
    private var keepsFrom: Bool {
        guard let header, let inner = protected?.addresses("From") else { return false }
        guard inner != header.readableAddresses("From") else { return false }
        return !report.signers.contains { signer in
            signer.integrity.ok == true && signer.chain.ok == true && signer.time.ok == true
                && signer.certificate?.mailAddresses.isDisjoint(with: inner) == false
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
                    ?? HeaderSplit.join(outer: outer, inner: keepsSignature ? try inner.asMessage() : inner, extent)
            } ?? inner.bytes + inner.lineEnd.bytes
        try MemorySource(bytes).stream().lines(endingIn: lineEnd).makeReader().copy(to: sink)
    }

    /// The protected fields that replace outer ones; if a signature stays, only those that are not visible otherwise.
    private func shown(above inner: HeaderBlock, _ outer: HeaderBlock) throws(MIMEError) -> ProtectedHeader? {
        keepsSignature ? try protected?.hiddenFields(outer: outer, above: inner) : protected?.with(header: inner)
    }
}
