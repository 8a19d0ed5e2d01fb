package import ByteStreams
package import CMSSyntax
package import Foundation
import InternetMessage
package import PKIX

/// Opens what is signed or encrypted, layer by layer.
///
/// RFC 8551 §3.7: layers may be nested in any order. For mail of which nothing is known: `verify` first, whose report names
/// the layers, and `decrypt` if one of them is encrypted.
///
/// Between its questions to the provider it reads, hashes and decrypts on the thread that it is run on; a task that was
/// cancelled ends at the next layer. A server that opens large messages should do so with an executor of its own, as
/// `withTaskExecutorPreference` takes it.
package struct MessageOpener: Sendable {
    /// How many layers are opened.
    package static let maximumLayers = LayerLimit.count
    /// How many signers are judged in the parts of one message.
    static let maximumSigners = SignedData.maximumSigners

    let provider: any KeyProvider
    let time: Date
    /// How certificates are judged, beside what the provider trusts.
    private let terms: ValidationOptions
    /// Who is asked about revocation where nothing at hand tells; nil for nobody.
    private var revocation: (any RevocationSource)?
    /// What opens encrypted layers without a certificate; never anything that was not given on purpose.
    let secret: SharedSecret?
    /// What is accepted beside the provider's exceptions.
    private let exceptions: VerdictExceptions

    /// An opener that judges certificates as of `time`.
    ///
    /// - Parameters:
    ///   - secret: a secret key or password that somebody gave for opening this.
    ///   - revocation: who is asked about revocation where nothing at hand tells.
    ///   - exceptions: what is accepted beside the provider's exceptions.
    package init(
        _ provider: any KeyProvider,
        at time: Date,
        secret: SharedSecret? = nil,
        terms: ValidationOptions = ValidationOptions(),
        revocation: (any RevocationSource)? = nil,
        exceptions: VerdictExceptions = []
    ) {
        self.provider = provider
        self.time = time
        self.secret = secret
        self.terms = terms
        self.revocation = revocation
        self.exceptions = exceptions
    }

    /// The same opener for one message: the time in which services may be asked about revocation begins anew.
    var forOneVerdict: MessageOpener {
        var opener = self
        opener.revocation = revocation?.forOneVerdict()
        return opener
    }

    /// Judges the signatures of a whole message without decrypting anything.
    ///
    /// What is wrong with the message is in the report; errors are for what keeps the answer from being known.
    ///
    /// - Throws: `StreamError`, `CancellationError`, or what the provider throws.
    package func verify(_ source: any ByteSource) async throws -> VerifiedContent {
        try await forOneVerdict.judge(source)
    }

    private func judge(_ source: any ByteSource) async throws -> VerifiedContent {
        var result = VerifiedContent()
        do {
            guard source.count > 0 else { throw MessageError.malformed("the input is empty") }
            let message = try MIMEReader.message(in: source)
            result.report.note(message.defects)
            if message.protection != nil {
                try await verify(LocatedEntity(entity: message, source: source), message.header, .whole, into: &result)
                result.learnable = Self.learnable(result.report, header: message.header)
            } else {
                for (part, section) in securedParts(of: LocatedEntity(entity: message, source: source)) {
                    guard result.report.signers.count < Self.maximumSigners else {
                        let text = "only the first \(Self.maximumSigners) signatures of its parts are judged"
                        result.report.problems.append(Problem(.tooManySignatures, text))
                        break
                    }
                    try await verify(part, message.header, .part, at: section, into: &result)
                }
            }
        } catch {
            try result.report.note(error)
            result.learnable = nil
        }
        result.report.noteCosigners()
        try source.checkUnchanged()
        return result
    }

    /// What `report` on the message with `header` allows to learn; nil if that is nothing.
    static func learnable(_ report: VerificationReport, header: HeaderBlock) -> VerifiedMessage? {
        VerifiedMessage(report, header: header)
    }

    /// Judges a bare CMS object, whose content is inside or `detached`.
    ///
    /// - Parameter isMail: whether the detached content is mail that was signed in canonical form, with CRLF line ends; else
    ///   its bytes are taken as they are.
    package func verify(
        cms stream: ByteStream,
        detached: (any ByteSource)?,
        isMail: Bool = false
    ) async throws -> VerifiedContent {
        var result = VerifiedContent()
        do {
            switch try CMSContentType(of: stream) {
            case .signedData:
                let layer =
                    try detached.map { try SignedLayer(cms: stream, detached: $0, isMail: isMail) }
                    ?? SignedLayer(cms: stream, mustBeEntity: false)
                try await forOneVerdict.judge(layer, header: nil, coverage: .whole, into: &result)
            default:
                throw MessageError.malformed("the CMS object is not signed")
            }
        } catch {
            try result.report.note(error)
        }
        return result
    }

    private func verify(
        _ part: LocatedEntity,
        _ header: HeaderBlock,
        _ coverage: VerificationReport.Coverage,
        at section: [Int]? = nil,
        into result: inout VerifiedContent
    ) async throws {
        try Task.checkCancellation()
        switch try Layer(part) {
        case .signed(let layer):
            let (inner, payload) = coverage == .whole ? try innerLayers(of: layer.content) : ([], nil)
            let protected = payload.flatMap { ProtectedHeader(in: $0, outer: header) }
            try await judge(layer, header: header, protected: protected, coverage: coverage, at: section, into: &result)
            for layer in inner {
                guard let signed = layer.signed else {
                    result.report.add(layer.layer)
                    continue
                }
                result.report.add(layer.layer, signers: try await judge(signed, header: header, protected: protected))
                result.report.noteInnerSignature()
            }
            result.report.noteSignedCiphertext()
            result.report.note(protected, outer: header)
        case .encrypted(let layer):
            result.report.add(layer.layer, isPart: coverage == .part)
            let text = "what is encrypted may be signed inside; decrypting tells"
            result.report.problems.append(Problem(.encrypted, text))
        case .compressed(let layer):
            // Once only: what unpacks again and again has nothing else in mind.
            guard !result.report.layers.contains(where: { $0.kind == .compressed }) else {
                throw CMSError.limitExceeded("one layer of compression")
            }
            result.report.add(CompressedLayer.layer, isPart: coverage == .part)
            try await verify(layer.content(), header, coverage, at: section, into: &result)
        case nil: break
        }
    }

    /// Judges the signers of one layer and adds them to the report.
    func judge(
        _ layer: SignedLayer,
        header: HeaderBlock?,
        protected: ProtectedHeader? = nil,
        coverage: VerificationReport.Coverage,
        at section: [Int]? = nil,
        into result: inout VerifiedContent
    ) async throws {
        var signers = try await judge(layer, header: header, protected: protected)
        for index in signers.indices {
            signers[index].section = section.map { $0.map(String.init).joined(separator: ".") }
        }
        result.report.add(layer.layer, signers: signers, isPart: coverage == .part)
        let told = Set(result.report.problems)
        result.report.problems += layer.oddities.filter { !told.contains($0) }
        guard !signers.isEmpty else { return }
        result.report.noteInnerSignature()
        result.report.coverage = coverage
        result.content = result.content ?? layer.signedBytes
    }

    /// The signers of one layer, judged.
    func judge(
        _ layer: SignedLayer,
        header: HeaderBlock?,
        protected: ProtectedHeader? = nil
    ) async throws -> [VerificationReport.Signer] {
        let known = try await provider.certificates(for: layer.signerIdentifiers)
        let trust = try await provider.trust(for: layer.certificates + known).forOneMessage()
        let exceptions = try await exceptions.union(provider.exceptions())
        func verify(_ terms: ValidationOptions) -> [VerificationReport.Signer] {
            layer.verify(
                trust: trust.under(terms),
                known: known,
                header: header,
                protected: protected,
                exceptions: exceptions,
                at: time
            )
        }
        let signers = verify(terms)
        guard revocation != nil, terms.revocation != .off else { return signers }
        // Nobody is asked about a signature that is none.
        let chains = signers.filter { $0.integrity.holds }.compactMap(\.certificate).map {
            layer.chain(of: $0, trust: trust.under(terms), at: time)
        }
        let asked = await terms.asking(revocation, about: chains, at: time)
        return asked == terms ? signers : verify(asked)
    }

    /// A layer inside a signature, and its signatures if it has any.
    typealias InnerLayer = (layer: VerificationReport.Layer, signed: SignedLayer?)

    /// The layers inside a signature, which decide nothing but that they are intact, as the signature around them speaks;
    /// and the content inside them all, if no key is needed to get at it.
    func innerLayers(
        of content: LocatedEntity?
    ) throws(MessageError) -> (layers: [InnerLayer], payload: LocatedEntity?) {
        var layers: [InnerLayer] = []
        var next = content
        while let part = next {
            guard part.entity.protection != nil else { return (layers, part) }
            guard layers.count + 1 < Self.maximumLayers else { throw .tooManyLayers }
            switch try? Layer(part) {
            case .signed(let signed)?:
                layers.append((signed.layer, signed))
                next = signed.content
            case .encrypted(let encrypted)?:
                layers.append((encrypted.layer, nil))
                next = nil
            case .compressed(let compressed)?:
                let isFirst = !layers.contains { $0.layer.kind == .compressed }
                layers.append((CompressedLayer.layer, nil))
                next = isFirst ? try? compressed.content() : nil
            case nil: return (layers, nil)
            }
        }
        return (layers, nil)
    }

    /// The protected parts below one that is not protected itself, messages in messages included, and the sections that
    /// their signatures are in.
    ///
    /// RFC 3501 §6.4.5: a message that is no multipart has its body in section 1.
    private func securedParts(
        of part: LocatedEntity,
        at section: [Int] = [],
        depth: Int = 0
    ) -> [(part: LocatedEntity, section: [Int])] {
        func found(_ entity: Entity, at place: [Int], body: [Int]) -> [(LocatedEntity, [Int])] {
            let child = LocatedEntity(entity: entity, source: part.source)
            switch entity.protection {
            case nil: return securedParts(of: child, at: place, depth: depth + 1)
            case .cms: return [(child, body)]
            case .multipartSigned, .malformed: return [(child, place + [2])]
            }
        }
        if depth < Self.maximumLayers, let embedded = try? part.entity.embeddedMessage(in: part.source) {
            let place = section.isEmpty ? [1] : section
            return found(embedded, at: place, body: place + [1])
        }
        return part.entity.children.enumerated().flatMap { index, child in
            found(child, at: section + [index + 1], body: section + [index + 1])
        }
    }
}
