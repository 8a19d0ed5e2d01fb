import ByteStreams
import CMSSyntax
package import InternetMessage
import LibCrypto
package import PKIX

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A signed entity with its claimed signers and content, not yet verified.
///
/// The caller finds certificates and trust for `signerIdentifiers` and `certificates` and then calls `verify`.
package struct SignedLayer: Sendable {
    let data: SignedData
    /// The signed content as an entity; nil if there is no content (a certs-only message), the content is detached from a
    /// bare CMS object, or it could not be read as an entity.
    let content: LocatedEntity?
    /// The bytes that were hashed; nil if there are none.
    let signedBytes: SignedBytes?
    /// The revocation lists and OCSP responses in the message.
    private let evidence: RevocationEvidence
    private let problems: [Problem]
    /// Warnings about the encoding of the signature and of the content.
    let defects: [Problem]

    /// The identifiers of the claimed signers' certificates.
    package var signerIdentifiers: [EntityIdentifier] { data.signers.map(\.identifier) }
    /// The certificates in the object.
    package var certificates: [Certificate] { data.certificates }

    /// Reads multipart/signed.
    init(content: Entity, signature: Entity, in source: any ByteSource) throws {
        let padding = PaddingWatch()
        var data = try SignedData(reading: signature.decodedBody(of: source) { padding.note() })
        let binary = content.binaryRanges(in: source)
        var stream = content.canonicalStream(of: source, binary: binary)
        let transport = binary.isEmpty ? LineEndDefects() : nil
        try data.hashDetached(transport.map { content.canonicalStream(of: source, watchedBy: $0) } ?? stream)
        if !data.fits, content.range.count > 0 {
            // The signer may have used line ends other than CRLF. The signature is accepted if it covers the unchanged bytes.
            var others = [source.stream(in: content.range)]
            // Many programs make all lines of an embedded message end in CRLF, whatever transfer encoding its parts
            // declare.
            let outer = content.binaryRanges(in: source, messages: 0)
            if outer != binary { others.append(content.canonicalStream(of: source, binary: outer)) }
            for other in others where !data.fits {
                var again = try SignedData(reading: signature.decodedBody(of: source))
                try again.hashDetached(other)
                if again.fits { (data, stream) = (again, other) }
            }
        }
        signedBytes = SignedBytes(stream: stream, source: source)
        self.data = data
        self.content = LocatedEntity(entity: content, source: source)
        evidence = data.revocationEvidence
        problems = data.problems + (try SignedPurpose(of: data, content: self.content).problems)
        defects = padding.problems + Self.problems(transport)
    }

    /// Reads a signed CMS object and stores its content to find layers inside.
    ///
    /// - Parameters:
    ///   - declared: the smime-type, in lower case; nil if there is none.
    ///   - padding: records whether base64 padding was missing in `stream`.
    ///   - mustBeEntity: whether the content must be a MIME entity, with one content type and one transfer encoding. A bare
    ///     CMS object may contain any bytes.
    init(cms stream: ByteStream, declared: String? = nil, padding: PaddingWatch? = nil, mustBeEntity: Bool) throws {
        let spool = Spool()
        let transport = mustBeEntity ? LineEndDefects() : nil
        let sink = ClosureSink { bytes in
            transport?.scan(bytes)
            try spool.write(bytes)
        }
        data = try SignedData(reading: stream, content: sink)
        guard declared != "certs-only" || data.signers.isEmpty else {
            throw MessageError.malformed("smime-type says certs-only, but there is a signature")
        }
        guard data.hasContent || data.signers.isEmpty else {
            throw MessageError.malformed("a detached signature without the content it is for")
        }
        let source = try spool.finish()
        signedBytes = data.hasContent ? SignedBytes(stream: source.stream(), source: source) : nil
        do throws(MIMEError) {
            content = data.hasContent ? try LocatedEntity(reading: source) : nil
        } catch {
            guard case .limitExceeded = error, !mustBeEntity else { throw error }
            content = nil
        }
        if mustBeEntity, let entity = content?.entity {
            // Without any field, what would be a hidden field elsewhere may be text.
            let hasHeader = !entity.header.fields.isEmpty
            try entity.checkUnambiguous(in: hasHeader ? nil : [.duplicateContentType, .duplicateTransferEncoding])
        }
        evidence = data.revocationEvidence
        problems =
            data.problems
            + (mustBeEntity
                ? try SignedPurpose(of: data, content: content).problems : SignedPurpose.warnings(about: data))
        let isText = content.map { $0.entity.binaryRanges(in: $0.source).isEmpty } ?? false
        defects = (padding?.problems ?? []) + (isText ? Self.problems(transport) : [])
    }

    /// Reads a detached signature over `content`.
    ///
    /// - Parameter isMail: whether the content is mail, which is signed in canonical form; otherwise its bytes are signed
    ///   unchanged.
    init(cms stream: ByteStream, detached content: any ByteSource, isMail: Bool) throws {
        var data = try SignedData(reading: stream)
        let signed =
            try isMail
            ? MIMEReader.message(in: content).canonicalStream(of: content, range: 0..<content.count) : content.stream()
        try data.hashDetached(signed)
        self.data = data
        self.content = nil
        signedBytes = SignedBytes(stream: signed, source: content)
        evidence = data.revocationEvidence
        problems = data.problems + SignedPurpose.warnings(about: data)
        defects = []
    }

    /// Whether the object has no signature and only contains certificates (RFC 8551 §3.8).
    var hasOnlyCertificates: Bool { !data.hasContent && data.signers.isEmpty && !certificates.isEmpty }

    /// The entry for this layer in the report.
    var layer: VerificationReport.Layer {
        let names = data.signers.map(\.signatureName)
        return VerificationReport.Layer(kind: .signed, algorithm: names.joined(separator: ", "), problems: problems)
    }

    /// Judges every signature.
    ///
    /// - Parameters:
    ///   - validator: judges certificates with anchors, pinned certificates and intermediates.
    ///   - known: possible certificates of the signers, in addition to those in the object.
    ///   - header: the header of the message, whose From must name the signer; nil for a bare CMS object.
    ///   - protected: the header fields inside the signature, which must name the signer, too.
    ///   - exceptions: errors to treat as warnings.
    ///   - time: the time at which certificates must be valid.
    package func verify(
        by validator: PathValidator,
        known: [Certificate],
        header: HeaderBlock?,
        protected: ProtectedHeader? = nil,
        exceptions: VerdictExceptions = [],
        at time: Date
    ) -> [VerificationReport.Signer] {
        let identity = header.map { SignerIdentity($0, protected: protected, exceptions: exceptions) }
        let included = Set(certificates)
        let candidates = certificates + known.filter { !included.contains($0) }
        var judged: [Certificate: CertificateJudgement] = [:]
        // Several signatures may be by one certificate, and judging a large one takes long.
        func judgement(of certificate: Certificate) -> CertificateJudgement {
            if let known = judged[certificate] { return known }
            let made = CertificateJudgement(of: certificate, in: self, identity, by: validator, at: time)
            judged[certificate] = made
            return made
        }
        return data.signers.map { signer in
            let check = data.check(signer, candidates: candidates)
            func judge(_ certificate: Certificate?) -> VerificationReport.Signer {
                let found = certificate.map { judgement(of: $0) }
                let (finding, verdict) = (found?.finding, found?.verdict)
                return VerificationReport.Signer(
                    certificate: certificate,
                    signingTime: signer.signingTime,
                    digest: signer.digest?.rawValue ?? signer.digestName,
                    signature: signer.signatureName,
                    capabilities: SMIMECapability.names(of: signer.capabilities),
                    integrity: VerificationReport.Axis(
                        exceptions.weigh(check.problems + problems.filter { $0.level == .error })
                    ),
                    chain: verdict.map { .init(exceptions.weigh($0.problems)) } ?? .notChecked,
                    identity: finding?.axis ?? .notChecked,
                    revocation: verdict?.revocation.map { .init($0.problems) } ?? .notChecked,
                    time: verdict.map { .init($0.timeProblems + timeWarnings(signer, certificate, header, at: time)) }
                        ?? .notChecked,
                    section: nil,
                    revocationStatus: verdict?.revocation?.status,
                    unknownRevocation: verdict?.unknownRevocation,
                    validity: verdict?.validity,
                    isContentChanged: check.isContentChanged,
                    isMismatched: finding?.mismatch?.problem.level == .error,
                    mismatches: finding?.mismatch.map { [$0.reason] } ?? [],
                    isIdentityUnclear: finding?.isUnclear ?? false,
                    path: verdict?.certificates ?? [],
                    evidence: verdict.flatMap {
                        SignerEvidence(signer, verdict: $0, among: certificates, validator, at: time)
                    },
                    author: found?.author
                )
            }
            // Certificates that an attacker adds must not make the verdict worse. If several certificates have the signer's
            // key, the best verdict is used.
            var best = judge(check.certificates.first)
            for certificate in check.certificates.dropFirst() where best.status != .valid {
                let other = judge(certificate)
                if other.isBetter(than: best) { best = other }
            }
            return best
        }
    }

    /// The verdict on the chain of a signer's certificate. Certificates in the object may be part of the chain.
    func chain(of certificate: Certificate, by validator: PathValidator, at time: Date) -> ChainVerdict {
        validator.judge(
            certificate,
            extra: certificates,
            extraLists: evidence.certificateLists,
            responses: evidence.responses,
            purpose: .signing,
            at: time
        )
    }

    /// Warnings about the claimed signing time. They do not affect the verdict, because a signer can claim any time.
    private func timeWarnings(
        _ signer: SignerInfo,
        _ certificate: Certificate?,
        _ header: HeaderBlock?,
        at time: Date
    ) -> [Problem] {
        guard let claimed = signer.signingTime else { return [] }
        var problems: [Problem] = []
        if claimed.timeIntervalSince(time) > Self.clockTolerance {
            problems.append(Problem(.signingTimeFuture, "the signing time lies in the future"))
        }
        if let begin = certificate?.notBefore, begin.timeIntervalSince(claimed) > Self.clockTolerance {
            let text =
                "the signing time is \(claimed.timestamp), but the certificate is valid only from \(begin.timestamp)"
            problems.append(Problem(.signingTimeFar, text))
        }
        if let sent = header?.first("Date").flatMap({ MessageDate($0.value) })?.date,
            abs(claimed.timeIntervalSince(sent)) > Self.dateTolerance
        {
            let text = "the signing time is \(claimed.timestamp), but the Date field says \(sent.timestamp)"
            problems.append(Problem(.signingTimeFar, text))
        }
        return problems
    }

    /// The tolerated difference between two clocks, in seconds.
    private static let clockTolerance: TimeInterval = 15 * 60
    /// The tolerated time between writing and signing a message, in seconds.
    private static let dateTolerance: TimeInterval = 24 * 3600

    private static func problems(_ transport: LineEndDefects?) -> [Problem] {
        (transport?.defects ?? []).sorted { $0.rawValue < $1.rawValue }
            .map { Problem(ProblemCode($0), "in what is signed: \($0.text)") }
    }
}

extension SignedData {
    /// Whether the content matches the message digest of at least one signer. The signature value is not checked.
    fileprivate var fits: Bool {
        signers.contains { !check($0, candidates: []).isContentChanged }
    }
}
