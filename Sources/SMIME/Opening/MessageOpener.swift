package import ByteStreams
package import CMSSyntax
package import InternetMessage
package import PKIX

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Opens what is signed or encrypted, layer by layer.
///
/// RFC 8551 §3.7: layers may be nested in any order. `open` takes any message and reads it once. `decrypt` rejects a message without
/// encryption; `verify` decrypts nothing.
///
/// Between its questions to the provider it reads, hashes and decrypts on the thread that it is run on; a task that was
/// cancelled ends at the next window of bytes. A server that opens large messages should do so with an executor of its own, as
/// `withTaskExecutorPreference` takes it.
package struct MessageOpener: Sendable {
    /// How many layers are opened.
    package static let maximumLayers = LayerLimit.count
    /// How many signers are judged in the parts of one message.
    static let maximumSigners = SignedData.maximumSigners

    let provider: any KeyProvider
    let time: Date
    /// How certificates are judged, besides the provider's trust settings.
    let options: ValidationOptions
    /// The source to ask about revocation if the data at hand does not decide; nil for none.
    private(set) var revocation: (any RevocationSource)?
    /// A secret from the caller that opens encrypted layers without a certificate.
    let secret: SharedSecret?
    /// Exceptions in addition to the provider's.
    let exceptions: VerdictExceptions

    /// An opener that judges certificates as of `time`.
    ///
    /// - Parameters:
    ///   - secret: a secret key or password that the caller gave for this message.
    ///   - revocation: the source to ask about revocation if the data at hand does not decide.
    ///   - exceptions: what is accepted beside the provider's exceptions.
    package init(
        _ provider: any KeyProvider,
        at time: Date,
        secret: SharedSecret? = nil,
        options: ValidationOptions = ValidationOptions(),
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

    /// The same opener with a new time limit for services about revocation, for the next message.
    var forOneVerdict: MessageOpener {
        var opener = self
        opener.revocation = revocation?.forOneVerdict()
        return opener
    }

    /// Opens every layer of a whole message, whatever it is. What is neither encrypted nor compressed stays byte for byte as
    /// it came; its signatures are judged as by `verify`.
    ///
    /// - Parameters:
    ///   - structure: the structure of the message in `source`; nil reads it.
    ///   - keepingSignatures: whether a signature inside the encryption is judged and stays in the message, with all that is
    ///     in it, so that its recipient can judge it, too.
    ///   - onlyAuthenticated: whether nothing is decrypted that its encryption does not protect against changes (CBC): a
    ///     program that answers strangers then reveals nothing about such plaintext.
    /// - Throws: `MessageError.certificatesOnly`, `MessageError.notARecipient`, `MessageError.needsSecret`,
    ///   `MessageError.unauthenticated`, `MessageError.malformed`, `CMSError.decryptionFailed`, `CancellationError`, and what
    ///   reading and the provider throw.
    package func open(
        _ source: any ByteSource,
        structure: Entity? = nil,
        keepingSignatures: Bool = false,
        onlyAuthenticated: Bool = false
    ) async throws -> OpenedMessage {
        let place = try MessagePlace(opening: structure, in: source)
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
        return OpenedMessage(asItCame: source, header: place.part.entity.header, verified)
    }

    /// Opens every layer of a whole message in which something is encrypted or compressed.
    ///
    /// - Throws: `MessageError.notEncrypted` if nothing is; else as `open`, whose parameters it has.
    package func decrypt(
        _ source: any ByteSource,
        keepingSignatures: Bool = false,
        onlyAuthenticated: Bool = false
    ) async throws -> OpenedMessage {
        let place = try MessagePlace(opening: nil, in: source)
        var walker = Self.walker(opening: place)
        guard try !walker.isReadable() else { throw MessageError.notEncrypted }
        return try await forOneVerdict.open(
            place,
            walker,
            keepingSignatures: keepingSignatures,
            onlyAuthenticated: onlyAuthenticated
        )
    }

    /// Judges the signatures of a whole message without decrypting anything.
    ///
    /// What is wrong with the message is in the report; errors are for what keeps the answer from being known.
    ///
    /// - Throws: `StreamError`, `CancellationError`, or what the provider throws.
    package func verify(_ source: any ByteSource) async throws -> VerifiedContent {
        try await verify(source, structure: nil)
    }

    /// The same for a message of which the structure was read already, if it is not nil.
    func verify(_ source: any ByteSource, structure: Entity?) async throws -> VerifiedContent {
        let place: MessagePlace
        do { place = try MessagePlace(opening: structure, in: source) } catch {
            var result = Verification()
            try result.report.note(error)
            try source.checkUnchanged()
            return VerifiedContent(result, header: nil)
        }
        return try await forOneVerdict.verify(place, LayerWalker(place))
    }

    /// The message to learn from, by `report`; nil if nothing may be learned.
    static func learnable(_ report: VerificationReport, header: HeaderBlock) -> VerifiedMessage? {
        VerifiedMessage(report, header: header)
    }

    /// A walk through the layers of a message that is to be opened. A defective header does not prevent that, but proves nothing about the
    /// author.
    private static func walker(opening place: MessagePlace) -> LayerWalker {
        LayerWalker(place, isMail: !place.part.entity.header.isOnlyStructural, ignoring: [.hiddenFields])
    }
}
