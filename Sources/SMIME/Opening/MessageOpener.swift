package import ByteStreams
package import CMSSyntax
package import InternetMessage
package import PKIX

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Verifies and decrypts a message, layer by layer.
///
/// Layers may be nested in any order (RFC 8551 §3.7). `open` also accepts a message that is neither encrypted nor
/// compressed; `decrypt` rejects it. `verify` decrypts nothing.
///
/// Reading, hashing and decryption run on the calling thread. If the task is cancelled, opening ends at the next window of
/// bytes. A server that opens large messages should use an executor of its own (`withTaskExecutorPreference`).
package struct MessageOpener: Sendable {
    /// The maximum number of layers that are opened.
    package static let maximumLayers = LayerLimit.count
    /// The number of judged signers after which no further part of a message is judged.
    static let maximumSigners = SignedData.maximumSigners

    let provider: any KeyProvider
    let time: Date
    /// How certificates are judged; nil for the options of the provider's trust store.
    let options: ValidationOptions?
    /// The source of revocation data that is asked if the available data does not decide; nil for none.
    private(set) var revocation: (any RevocationSource)?
    /// The caller's secret for encrypted layers without a certificate; nil if there is none.
    let secret: SharedSecret?
    /// Exceptions in addition to the provider's.
    let exceptions: VerdictExceptions

    /// An opener that judges certificates as of `time`.
    ///
    /// - Parameters:
    ///   - secret: a shared key or password from the caller for this message.
    ///   - options: how certificates are judged; nil for the options of the provider's trust store.
    ///   - revocation: the source of revocation data that is asked if the available data does not decide.
    ///   - exceptions: exceptions in addition to the provider's.
    package init(
        _ provider: any KeyProvider,
        at time: Date,
        secret: SharedSecret? = nil,
        options: ValidationOptions? = nil,
        revocation: (any RevocationSource)? = nil,
        exceptions: VerdictExceptions = []
    ) {
        self.provider = provider
        self.time = time
        self.secret = secret
        self.options = options
        self.revocation = revocation
        self.exceptions = exceptions
    }

    /// The same opener with a new time limit for revocation services, for the next message.
    var forOneVerdict: MessageOpener {
        var opener = self
        opener.revocation = revocation?.forOneVerdict()
        return opener
    }

    /// Opens every layer of a whole message. A message without encryption and compression is not changed; its signatures are
    /// judged as by `verify`. So are the signatures in parts of decrypted mail.
    ///
    /// - Parameters:
    ///   - structure: the structure of the message in `source`; nil reads it.
    ///   - keepingSignatures: whether a signature inside the encryption is judged and stays in the message, including its
    ///     content, so that the recipient can judge it, too.
    ///   - onlyAuthenticated: whether content is decrypted only if its encryption protects against changes (not CBC). A
    ///     program that answers unknown senders needs this: its answers to changed copies of an intercepted mail would reveal
    ///     the content.
    /// - Throws: `MessageError.certificatesOnly`, `.notARecipient`, `.needsSecret`, `.unauthenticated`, `.malformed`,
    ///   `.defective`, `.tooManyLayers`; `CMSError`, `MIMEError`, `CancellationError`; errors of reading and of the
    ///   provider.
    package func open(
        _ source: any ByteSource,
        structure: Entity? = nil,
        keepingSignatures: Bool = false,
        onlyAuthenticated: Bool = false
    ) async throws -> OpenedMessage {
        let place = try EntityLocation(opening: structure, in: source)
        var walker = Self.walker(opening: place)
        guard try walker.isReadable() else {
            return try await forOneVerdict.open(
                place,
                walker,
                keepingSignatures: keepingSignatures,
                onlyAuthenticated: onlyAuthenticated
            )
        }
        let verified = try await forOneVerdict.verify(place, walker)
        return OpenedMessage(asReceived: source, header: place.part.entity.header, verified)
    }

    /// Opens every layer of a whole message that is encrypted or compressed. The parameters are those of `open`.
    ///
    /// - Throws: `MessageError.notEncrypted` or `.encryptedInParts` if the message as a whole is neither encrypted nor
    ///   compressed; otherwise the errors of `open`.
    package func decrypt(
        _ source: any ByteSource,
        structure: Entity? = nil,
        keepingSignatures: Bool = false,
        onlyAuthenticated: Bool = false
    ) async throws -> OpenedMessage {
        let place = try EntityLocation(opening: structure, in: source)
        var walker = Self.walker(opening: place)
        guard try !walker.isReadable() else {
            throw try hasEncryptedPart(place) ? MessageError.encryptedInParts : .notEncrypted
        }
        return try await forOneVerdict.open(
            place,
            walker,
            keepingSignatures: keepingSignatures,
            onlyAuthenticated: onlyAuthenticated
        )
    }

    /// Judges the signatures of a whole message without decrypting anything.
    ///
    /// The problems of the message are in the report. An error is thrown only if the message cannot be judged.
    ///
    /// - Parameter structure: the structure of the message; nil reads it.
    /// - Throws: `StreamError`, `CancellationError`, or errors of the provider.
    package func verify(_ source: any ByteSource, structure: Entity? = nil) async throws -> VerifiedContent {
        let place: EntityLocation
        do { place = try EntityLocation(opening: structure, in: source) } catch {
            var result = Verification()
            try result.report.note(error)
            try source.checkUnchanged()
            return VerifiedContent(result, header: nil)
        }
        return try await forOneVerdict.verify(place, LayerWalker(place))
    }

    /// The message as evidence from which the store may learn, according to `report`; nil if nothing may be learned.
    static func learnable(_ report: VerificationReport, header: HeaderBlock) -> VerifiedMessage? {
        VerifiedMessage(report, header: header)
    }

    /// A walk through the layers of a message to open. A header with the defect `hiddenFields` does not prevent opening,
    /// but the report then contains that error, so no author is verified.
    private static func walker(opening place: EntityLocation) -> LayerWalker {
        LayerWalker(place, isMail: !place.part.entity.header.isOnlyStructural, ignoring: [.hiddenFields])
    }
}

extension MessageOpener {
    /// Judges the signers of one layer and adds them to the report.
    func judge(
        _ layer: SignedLayer,
        header: HeaderBlock?,
        protected: ProtectedHeader? = nil,
        coverage: VerificationReport.Coverage,
        at section: [Int]? = nil,
        into result: inout Verification
    ) async throws {
        var signers = try await judge(layer, header: header, protected: protected)
        for index in signers.indices {
            signers[index].section = section.map { $0.map(String.init).joined(separator: ".") }
        }
        result.report.add(layer.layer, signers: signers, isPart: coverage == .part)
        let reported = Set(result.report.problems)
        result.report.note(layer.defects.filter { !reported.contains($0) })
        guard !signers.isEmpty else {
            result.report.hasOnlyCertificates = layer.hasOnlyCertificates && coverage == .whole
            return
        }
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
        let validator = PathValidator(try await provider.trust(for: layer.certificates + known))
        let options = options ?? validator.store.options
        let exceptions = try await exceptions.union(provider.exceptions())
        func verify(_ options: ValidationOptions) -> [VerificationReport.Signer] {
            layer.verify(
                by: validator.judging(by: options),
                known: known,
                header: header,
                protected: protected,
                exceptions: exceptions,
                at: time
            )
        }
        let signers = verify(options)
        guard revocation != nil, options.revocation != .off else { return signers }
        // Revocation services are not asked about certificates of invalid signatures.
        var seen: Set<Certificate> = []
        let certificates = signers.filter { $0.integrity.holds }.compactMap(\.certificate)
        let chains = certificates.filter { seen.insert($0).inserted }.map {
            layer.chain(of: $0, by: validator.judging(by: options), at: time)
        }
        let asked = await options.asking(revocation, about: chains, at: time)
        return asked == options ? signers : verify(asked)
    }
}
