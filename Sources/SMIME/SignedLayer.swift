public import CMS
public import Foundation
public import MIME
import Streams

/// A signed entity, opened as far as its claims: who is meant to have signed it, and what.
///
/// Opening checks nothing. The caller finds certificates and trust for `signerIdentifiers` and `certificates`, and
/// then calls `verify`.
public struct SignedLayer: Sendable {
    let data: SignedData
    /// The content that is signed, as an entity; nil if there is none (a certs-only message) or it is not held.
    let content: SecuredEntity?
    /// The very bytes that were hashed; nil if there are none.
    let signedBytes: SignedBytes?
    private let problems: [Problem]

    /// Whom the signatures name.
    public var signerIdentifiers: [EntityIdentifier] { data.signers.map(\.identifier) }
    /// The certificates that ride along.
    public var certificates: [Certificate] { data.certificates }

    /// Opens multipart/signed.
    init(content: Entity, signature: Entity, in source: any ByteSource) throws {
        var data = try SignedData(reading: signature.decodedBody(of: source))
        var stream = content.canonicalStream(of: source)
        try data.hashDetached(stream)
        if !data.fits, content.range.count > 0 {
            // Signed with other line ends than mail has: what counts is that these very bytes were signed.
            var raw = try SignedData(reading: signature.decodedBody(of: source))
            try raw.hashDetached(source.stream(in: content.range))
            if raw.fits { (data, stream) = (raw, source.stream(in: content.range)) }
        }
        signedBytes = SignedBytes(stream: stream, source: source)
        self.data = data
        self.content = SecuredEntity(entity: content, source: source)
        problems = data.problems
    }

    /// Opens a signed CMS object, and keeps its content for what may be inside.
    ///
    /// - Parameter mustBeEntity: whether the content must be a MIME entity; that of a bare CMS object may be anything.
    init(cms stream: ByteStream, mustBeEntity: Bool) throws {
        let spool = Spool()
        data = try SignedData(reading: stream, content: spool)
        guard data.hasContent || data.signers.isEmpty else {
            throw SMIMEError.malformed("a detached signature without the content it is for")
        }
        let source = try spool.finish()
        signedBytes = data.hasContent ? SignedBytes(stream: source.stream(), source: source) : nil
        do throws(MIMEError) {
            content = data.hasContent ? SecuredEntity(entity: try MIMEReader.message(in: source), source: source) : nil
        } catch {
            guard case .limitExceeded = error, !mustBeEntity else { throw error }
            content = nil
        }
        problems = data.problems
    }

    /// Opens a bare signature over `content`: its very bytes or, if those are not what was signed, its canonical lines.
    init(cms stream: ByteStream, detached content: any ByteSource) throws {
        var data = try SignedData(reading: stream)
        var signed = content.stream()
        try data.hashDetached(signed)
        if !data.fits {
            var canonical = try SignedData(reading: stream)
            try canonical.hashDetached(signed.lines(endingIn: .crlf))
            if canonical.fits { (data, signed) = (canonical, signed.lines(endingIn: .crlf)) }
        }
        self.data = data
        self.content = nil
        signedBytes = SignedBytes(stream: signed, source: content)
        problems = data.problems
    }

    /// What the layer is, for the report.
    var layer: VerificationReport.Layer {
        let names = data.signers.map(\.signatureName)
        return VerificationReport.Layer(kind: .signed, algorithm: names.joined(separator: ", "), problems: problems)
    }

    /// Judges every signature.
    ///
    /// - Parameters:
    ///   - trust: anchors, pins and intermediates.
    ///   - known: certificates that may be the signers' beside those that ride along.
    ///   - header: the header of the message, whose From must be the signer; nil for a bare CMS object.
    ///   - time: the time at which certificates must be valid.
    ///   - checksRevocation: whether the revocation lists at hand count, those that ride along among them.
    public func verify(
        trust: TrustStore,
        known: [Certificate],
        header: HeaderBlock?,
        at time: Date,
        checksRevocation: Bool
    ) -> [VerificationReport.Signer] {
        let identity = header.map { SignerIdentity($0) }
        let included = Set(certificates)
        let lists = checksRevocation ? data.crls.compactMap { try? CertificateList(der: $0) } : nil
        let candidates = certificates + known.filter { !included.contains($0) }
        return data.signers.map { signer in
            let check = data.check(signer, candidates: candidates)
            let verdict = check.certificate.map {
                trust.judge($0, extra: certificates, extraLists: lists ?? [], purpose: .signing, at: time)
            }
            return VerificationReport.Signer(
                certificate: check.certificate,
                signingTime: signer.signingTime,
                digest: signer.digest?.rawValue,
                signature: signer.signatureName,
                capabilities: signer.capabilities.map(\.name),
                integrity: VerificationReport.Axis(check.problems + problems.filter { $0.level == .error }),
                chain: verdict.map { VerificationReport.Axis($0.problems) } ?? .notChecked,
                identity: check.certificate.flatMap { identity?.judge($0) } ?? .notChecked,
                revocation: lists == nil ? .notChecked : verdict?.revocation.map { .init($0.problems) } ?? .notChecked,
                time: verdict.map { .init($0.timeProblems + timeWarnings(signer, at: time)) } ?? .notChecked,
                evidence: verdict.flatMap { SignerEvidence(signer, verdict: $0, among: certificates, trust, at: time) }
            )
        }
    }

    /// What the claimed signing time makes doubtful; it decides nothing, as anybody can claim any time.
    private func timeWarnings(_ signer: SignerInfo, at time: Date) -> [Problem] {
        guard let claimed = signer.signingTime else { return [] }
        if claimed.timeIntervalSince(time) > Self.clockTolerance {
            return [Problem("signing-time-future", .warning, "the signing time lies in the future")]
        }
        return []
    }

    /// How far clocks may be apart, in seconds.
    private static let clockTolerance: TimeInterval = 15 * 60
}

/// Bytes that were hashed, and where they come from.
struct SignedBytes: Sendable {
    let stream: ByteStream
    let source: any ByteSource
}

/// An entity and where its bytes are.
struct SecuredEntity: Sendable {
    let entity: Entity
    let source: any ByteSource
}

extension SignedData {
    /// Whether the content is what at least one signer's message digest says, leaving the signature itself aside.
    fileprivate var fits: Bool {
        signers.contains { signer in !check(signer, candidates: []).problems.contains { $0.code == "content-changed" } }
    }
}
