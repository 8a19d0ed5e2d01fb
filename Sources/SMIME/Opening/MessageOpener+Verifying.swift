package import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

extension MessageOpener {
    /// Verifies a bare CMS object. The content is in the object, or is `detached`.
    ///
    /// - Parameters:
    ///   - isMail: whether the detached content is mail that was signed in canonical form, with CRLF line ends;
    ///   otherwise its bytes were signed unchanged.
    ///   - surroundings: warnings about bytes around the object.
    package func verify(
        cms stream: ByteStream,
        detached: (any ByteSource)?,
        isMail: Bool = false,
        surroundings: [Problem] = []
    ) async throws -> VerifiedContent {
        var result = Verification()
        result.report.note(surroundings)
        do {
            if let detached {
                guard try CMSContentType(of: stream) == .signedData else {
                    throw MessageError.malformed("the CMS object is not signed")
                }
                let layer = try SignedLayer(cms: stream, detached: detached, isMail: isMail)
                try await forOneVerdict.judge(layer, header: nil, coverage: .whole, into: &result)
            } else {
                let layer = try Layer(cms: stream, declared: nil, content: .anything)
                try await forOneVerdict.verify(LayerWalker(bare: layer), nil, coverage: .whole, into: &result)
            }
        } catch {
            try result.report.note(error)
        }
        result.report.noteCosigners()
        return VerifiedContent(result, header: nil)
    }

    /// Judges the signatures of the message at `place`.
    ///
    /// - Parameter walker: a walk that begins at `place` and has not returned a layer yet.
    func verify(_ place: EntityLocation, _ walker: LayerWalker) async throws -> VerifiedContent {
        var result = Verification()
        let message = place.part.entity
        do {
            result.report.note(message.defects)
            if try place.layer() != nil {
                try await verify(walker, message.header, coverage: .whole, into: &result)
            } else {
                try await judgeParts(of: place, header: message.header, into: &result)
            }
        } catch {
            try result.report.note(error)
        }
        result.report.noteCosigners()
        try place.part.source.checkUnchanged()
        return VerifiedContent(result, header: message.header)
    }

    /// Judges the signatures in parts of the message at `place`. A signature over `place` itself counts as one of a part.
    ///
    /// - Parameters:
    ///   - header: the header of the message.
    ///   - protected: the message's header fields inside its encryption; nil if there are none. They must name the signers,
    ///     too, except the signers of attached messages.
    /// - Throws: errors about the message, errors of reading, and errors of the `KeyProvider`.
    func judgeParts(
        of place: EntityLocation,
        header: HeaderBlock,
        protected: ProtectedHeader? = nil,
        into result: inout Verification
    ) async throws {
        for part in try protectedParts(at: place, header: header) {
            guard result.report.signers.count < Self.maximumSigners else {
                let text = "its other parts are not judged: the limit is \(Self.maximumSigners) signatures"
                result.report.note(Problem(.tooManySignatures, text))
                break
            }
            let start = result.report.layers.count
            let isAttached = part.place.depth > place.depth
            try await verify(
                LayerWalker(part.place),
                part.header,
                protected: isAttached ? nil : protected,
                coverage: .part,
                into: &result
            )
            guard isAttached else { continue }
            result.report.compareSigners(from: start, withSenderIn: header)
        }
    }

    /// Judges the layers that `walker` finds, up to the first signature. If that signature covers the whole message,
    /// signatures inside it are judged, too.
    ///
    /// - Parameters:
    ///   - outer: the header of the message; nil for a bare CMS object. Signers are then compared with the first header
    ///     inside the object that has a From, if there is one.
    ///   - protected: the fields inside the encryption around a part; nil if there are none.
    private func verify(
        _ walker: LayerWalker,
        _ outer: HeaderBlock?,
        protected: ProtectedHeader? = nil,
        coverage: VerificationReport.Coverage,
        into result: inout Verification
    ) async throws {
        var (walker, header) = (walker, outer)
        while let step = try walker.next() {
            header = header ?? step.mailHeader
            switch step.layer {
            case .signed(let layer) where coverage == .whole:
                return try await verify(layer, before: &walker, header, into: &result)
            case .signed(let layer):
                return try await judge(
                    layer,
                    header: header,
                    protected: protected,
                    coverage: coverage,
                    at: step.section,
                    into: &result
                )
            case .encrypted(let layer):
                result.report.add(layer.layer, isPart: coverage == .part)
                return result.report.noteUndecrypted("the encrypted content may be signed; decrypt it to find out")
            case .compressed: result.report.add(CompressedLayer.layer, isPart: coverage == .part)
            }
        }
    }

    /// Judges a signature over the whole message. Signatures inside it must be intact, but only the outer signature
    /// determines the verdict.
    private func verify(
        _ layer: SignedLayer,
        before walker: inout LayerWalker,
        _ header: HeaderBlock?,
        into result: inout Verification
    ) async throws {
        // If a layer inside cannot be read, its own header is compared: a sender could damage the layer on purpose.
        let payload = try walker.payload() ?? walker.damaged
        let protected = header.flatMap { outer in payload.flatMap { ProtectedHeader(in: $0, outer: outer) } }
        try await judge(layer, header: header, protected: protected, coverage: .whole, into: &result)
        while let step = try walker.nextReadable() {
            guard case .signed(let inner) = step.layer else {
                result.report.add(step.layer.reported)
                continue
            }
            let signers = try await judge(inner, header: header, protected: protected)
            result.report.add(inner.layer, signers: signers)
            result.report.noteInnerSignature()
        }
        if walker.damaged != nil { result.report.noteUnreadableLayer() }
        result.report.noteSignedCiphertext()
        if let header { result.report.note(protected, outer: header) }
    }

    /// Whether a part below an entity that is not protected itself is encrypted.
    func hasEncryptedPart(_ place: EntityLocation) throws(MIMEError) -> Bool {
        try protectedParts(of: place, header: place.part.entity.header)
            .contains { part in
                if case .encrypted? = try? part.place.layer()?.opened(isMail: true) { true } else { false }
            }
    }

    /// A protected part of a message, and the header of the innermost message that contains the part.
    private typealias ProtectedPart = (place: EntityLocation, header: HeaderBlock)

    /// The entity itself if it is protected; otherwise the protected parts below it.
    private func protectedParts(at place: EntityLocation, header: HeaderBlock) throws(MIMEError) -> [ProtectedPart] {
        place.part.entity.protection == nil ? try protectedParts(of: place, header: header) : [(place, header)]
    }

    /// The protected parts below an entity that is not protected itself, including parts of embedded messages.
    ///
    /// - Parameter header: the header of the innermost message that contains the entity. A signer is compared with the From
    ///   of that message, because a sender who forwards signed mail as an attachment is not its author.
    /// - Throws: `MIMEError.unreadable`; an embedded message that cannot be parsed has no parts.
    private func protectedParts(
        of place: EntityLocation,
        header: HeaderBlock
    ) throws(MIMEError) -> [ProtectedPart] {
        guard !place.isTooDeep else { return [] }
        let parts: [EntityLocation]
        do { parts = try place.parts() } catch {
            if case .unreadable = error { throw error }
            return []
        }
        var found: [ProtectedPart] = []
        for part in parts {
            let header = place.part.entity.contentType.isMessage ? part.part.entity.header : header
            found += try protectedParts(at: part, header: header)
        }
        return found
    }
}
