import CMS
public import Foundation
import MIME
public import Streams

/// Opens what is signed or encrypted, layer by layer.
///
/// RFC 8551 §3.7: layers may be nested in any order.
public struct MessageOpener: Sendable {
    /// How many layers are opened.
    public static let maximumLayers = 8
    /// How many signers are judged in the parts of one message.
    static let maximumSigners = SignedData.maximumSigners

    let provider: any KeyProvider
    let time: Date
    /// Whether the revocation lists at hand count. Nothing is fetched.
    private let checksRevocation: Bool

    /// An opener that judges certificates as of `time`.
    public init(_ provider: any KeyProvider, at time: Date, checksRevocation: Bool = false) {
        self.provider = provider
        self.time = time
        self.checksRevocation = checksRevocation
    }

    /// Judges the signatures of a whole message without decrypting anything.
    ///
    /// What is wrong with the message is in the report; errors are for what keeps the answer from being known.
    ///
    /// - Throws: `StreamError`, or what the provider throws.
    public func verify(_ source: any ByteSource) async throws -> VerifiedContent {
        var result = VerifiedContent()
        do {
            guard source.count > 0 else { throw SMIMEError.malformed("the input is empty") }
            let message = try MIMEReader.message(in: source)
            result.report.note(message.defects)
            if message.securedForm != nil {
                try await verify(SecuredEntity(entity: message, source: source), message.header, .whole, into: &result)
                result.message = VerifiedMessage(result.report, header: message.header)
            } else {
                for part in securedParts(of: SecuredEntity(entity: message, source: source), depth: 0) {
                    guard result.report.signers.count < Self.maximumSigners else {
                        let text = "only the first \(Self.maximumSigners) signatures of its parts are judged"
                        result.report.problems.append(Problem("too-many-signatures", .warning, text))
                        break
                    }
                    try await verify(part, message.header, .part, into: &result)
                }
            }
        } catch {
            try result.report.note(error)
            result.message = nil
        }
        try source.checkUnchanged()
        return result
    }

    /// Judges a bare CMS object, whose content is inside or `detached`.
    public func verify(cms stream: ByteStream, detached: (any ByteSource)?) async throws -> VerifiedContent {
        var result = VerifiedContent()
        do {
            switch try CMSContentType(of: stream) {
            case .signedData:
                let layer =
                    try detached.map { try SignedLayer(cms: stream, detached: $0) }
                    ?? SignedLayer(cms: stream, mustBeEntity: false)
                try await judge(layer, header: nil, coverage: .whole, into: &result)
            default:
                throw SMIMEError.malformed("the CMS object is not signed")
            }
        } catch {
            try result.report.note(error)
        }
        return result
    }

    private func verify(
        _ part: SecuredEntity,
        _ header: HeaderBlock,
        _ coverage: VerificationReport.Coverage,
        into result: inout VerifiedContent
    ) async throws {
        switch try Layer(part) {
        case .signed(let layer):
            try await judge(layer, header: header, coverage: coverage, into: &result)
            if coverage == .whole { try noteInnerLayers(of: layer.content, in: &result.report) }
        case .encrypted(let layer):
            result.report.layers.append(layer.layer)
            let text = "what is encrypted may be signed inside; decrypting tells"
            result.report.problems.append(Problem("encrypted", .warning, text))
        case .compressed: result.report.layers.append(.compressed)
        case nil: break
        }
    }

    /// Judges the signers of one layer and adds them to the report.
    func judge(
        _ layer: SignedLayer,
        header: HeaderBlock?,
        coverage: VerificationReport.Coverage,
        into result: inout VerifiedContent
    ) async throws {
        let signers = try await judge(layer, header: header)
        result.report.layers.append(layer.layer)
        guard !signers.isEmpty else { return }
        result.report.signers += signers
        result.report.coverage = coverage
        result.content = result.content ?? layer.signedBytes
    }

    /// The signers of one layer, judged.
    func judge(_ layer: SignedLayer, header: HeaderBlock?) async throws -> [VerificationReport.Signer] {
        let known = try await provider.certificates(for: layer.signerIdentifiers)
        let trust = try await provider.trust(for: layer.certificates + known)
        return layer.verify(
            trust: trust,
            known: known,
            header: header,
            at: time,
            checksRevocation: checksRevocation
        )
    }

    /// The layers inside a signature, which are told but not judged: the signature around them speaks.
    private func noteInnerLayers(of content: SecuredEntity?, in report: inout VerificationReport) throws {
        var next = content
        while let part = next, let layer = try? Layer(part), report.layers.count < Self.maximumLayers {
            next = nil
            switch layer {
            case .signed(let signed):
                report.layers.append(signed.layer)
                next = signed.content
            case .encrypted(let encrypted): report.layers.append(encrypted.layer)
            case .compressed: report.layers.append(.compressed)
            }
        }
    }

    /// The protected parts below one that is not protected itself, messages in messages included.
    private func securedParts(of part: SecuredEntity, depth: Int) -> [SecuredEntity] {
        var children = part.entity.children
        if depth < Self.maximumLayers, let embedded = try? part.entity.embeddedMessage(in: part.source) {
            children = [embedded]
        }
        return children.flatMap { child in
            let child = SecuredEntity(entity: child, source: part.source)
            return child.entity.securedForm != nil ? [child] : securedParts(of: child, depth: depth + 1)
        }
    }
}

/// What verifying a message gave: the report, and the content that the first signature is about.
public struct VerifiedContent: Sendable {
    public internal(set) var report = VerificationReport()
    /// What may be learned from it; nil unless it is valid, whole, and signed by one person.
    public internal(set) var message: VerifiedMessage?
    var content: SignedBytes?

    /// Writes the MIME entity that was signed, in the very bytes that were hashed.
    ///
    /// - Returns: false, and nothing is written, if there is none or the integrity of any signature does not hold.
    /// - Throws: `StreamError.changedWhileReading` if it may have changed since it was hashed, and what writing throws.
    public func writeContent(to sink: any ByteSink) throws -> Bool {
        guard let content, !report.signers.isEmpty, report.signers.allSatisfy({ $0.integrity.ok == true }) else {
            return false
        }
        try content.stream.makeReader().copy(to: sink)
        try content.source.checkUnchanged()
        return true
    }
}

extension VerificationReport {
    /// Takes in what is odd, and no error, about the MIME around what is signed. A mailbox's From line is no oddity.
    mutating func note(_ defects: Set<MIMEDefect>) {
        let told = defects.filter { !$0.isError && $0 != .mboxLine }.sorted { $0.rawValue < $1.rawValue }
        problems += told.map { Problem($0.rawValue, .warning, $0.text) }
    }

    /// Takes an error that says what is wrong with the message into the report; any other is thrown on.
    mutating func note(_ error: any Error) throws {
        let text: String
        switch error {
        case SMIMEError.malformed(let why): text = why
        case CMSError.malformed(_, let why): text = "the CMS object is malformed: \(why)"
        case CMSError.limitExceeded(let what): text = "the CMS object exceeds a limit: \(what)"
        case let error as MIMEError:
            if case .unreadable(let cause) = error { throw cause }
            text = "\(error)"
        default: throw error
        }
        isMalformed = true
        problems.append(Problem("malformed", text))
    }
}

extension VerificationReport.Layer {
    static let compressed = Self(kind: .compressed, algorithm: "zlib", problems: [])
}
