package import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

extension MessageOpener {
    /// Verifies a bare CMS object. The content is in the object, or is `detached`.
    ///
    /// - Parameter isMail: whether the detached content is mail that was signed in canonical form, with CRLF line ends;
    ///   otherwise its bytes were signed unchanged.
    package func verify(
        cms stream: ByteStream,
        detached: (any ByteSource)?,
        isMail: Bool = false
    ) async throws -> VerifiedContent {
        var result = Verification()
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
        return VerifiedContent(result, header: nil)
    }

    /// Judges the signatures of the message at `place`.
    ///
    /// - Parameter walker: a walk that begins at `place` and has not returned a layer yet.
    func verify(_ place: MessagePlace, _ walker: LayerWalker) async throws -> VerifiedContent {
        var result = Verification()
        let message = place.part.entity
        do {
            result.report.note(message.defects)
            if try place.layer() != nil {
                try await verify(walker, message.header, coverage: .whole, into: &result)
            } else {
                for part in try protectedParts(of: place) {
                    guard result.report.signers.count < Self.maximumSigners else {
                        let text = "only the first \(Self.maximumSigners) signatures of its parts are judged"
                        result.report.note(Problem(.tooManySignatures, text))
                        break
                    }
                    try await verify(LayerWalker(part), message.header, coverage: .part, into: &result)
                }
            }
        } catch {
            try result.report.note(error)
        }
        result.report.noteCosigners()
        try place.part.source.checkUnchanged()
        return VerifiedContent(result, header: message.header)
    }

    /// Judges the layers that `walker` finds, up to the first signature. If that signature covers the whole message,
    /// signatures inside it are judged, too.
    private func verify(
        _ walker: LayerWalker,
        _ header: HeaderBlock,
        coverage: VerificationReport.Coverage,
        into result: inout Verification
    ) async throws {
        var walker = walker
        while let step = try walker.next() {
            switch step.layer {
            case .signed(let layer) where coverage == .whole:
                return try await verify(layer, before: &walker, header, into: &result)
            case .signed(let layer):
                return try await judge(layer, header: header, coverage: coverage, at: step.section, into: &result)
            case .encrypted(let layer):
                result.report.add(layer.layer, isPart: coverage == .part)
                let text = "the encrypted content may be signed; decrypting tells"
                return result.report.note(Problem(.encrypted, text))
            case .compressed: result.report.add(CompressedLayer.layer, isPart: coverage == .part)
            }
        }
    }

    /// Judges a signature over the whole message. Signatures inside it must be intact, but only the outer signature
    /// determines the verdict.
    private func verify(
        _ layer: SignedLayer,
        before walker: inout LayerWalker,
        _ header: HeaderBlock,
        into result: inout Verification
    ) async throws {
        let protected = try walker.payload().flatMap { ProtectedHeader(in: $0, outer: header) }
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
        result.report.noteSignedCiphertext()
        result.report.note(protected, outer: header)
    }

    /// The protected parts below an entity that is not protected itself, including parts of embedded messages.
    ///
    /// - Throws: `MIMEError.unreadable`; an embedded message that cannot be parsed has no parts.
    private func protectedParts(of place: MessagePlace) throws(MIMEError) -> [MessagePlace] {
        let entity = place.part.entity
        guard place.depth < Self.maximumLayers || !entity.contentType.isMessage else { return [] }
        let parts: [MessagePlace]
        do { parts = try place.parts() } catch {
            if case .unreadable = error { throw error }
            return []
        }
        var found: [MessagePlace] = []
        for part in parts {
            if part.part.entity.protection == nil {
                found += try protectedParts(of: part)
            } else {
                found.append(part)
            }
        }
        return found
    }
}
