package import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

extension MessageOpener {
    /// Decrypts and decompresses the bare CMS object `stream`, whose bytes are in `source`. The content is not changed.
    ///
    /// The content is treated as a file. If it is signed mail, its signatures are judged, but not removed.
    ///
    /// - Parameter onlyAuthenticated: see `open`.
    package func decrypt(
        cms stream: ByteStream,
        in source: any ByteSource,
        onlyAuthenticated: Bool = false
    ) async throws -> OpenedMessage {
        let layer = try Layer(cms: stream, declared: nil, content: .anything)
        var opening = Opening(source: source, header: nil, walker: LayerWalker(bare: layer))
        opening.isAuthenticatedOnly = onlyAuthenticated
        return try await forOneVerdict.open(opening)
    }

    /// Opens the message at `place`.
    ///
    /// - Parameters:
    ///   - walker: a walk that begins at `place` and has not returned a layer yet.
    ///   - keepingSignatures: see `open`.
    ///   - onlyAuthenticated: see `open`.
    func open(
        _ place: EntityLocation,
        _ walker: LayerWalker,
        keepingSignatures: Bool,
        onlyAuthenticated: Bool
    ) async throws -> OpenedMessage {
        let message = place.part
        var opening = Opening(
            source: message.source,
            header: message.entity.header,
            walker: walker,
            part: message,
            keepsSignatures: keepingSignatures,
            isAuthenticatedOnly: onlyAuthenticated
        )
        if message.entity.defects.contains(.hiddenFields) {
            opening.result.report.note(Problem(.hiddenFields))
        }
        return try await open(opening)
    }

    /// The state of opening a message.
    struct Opening {
        let source: any ByteSource
        /// The header of the message as received; nil for a bare CMS object.
        let header: HeaderBlock?
        /// Finds the layers.
        var walker: LayerWalker
        /// The current entity; nil if the entity is plaintext that is not stored.
        var part: LocatedEntity?
        /// Whether opening ends at a signature inside the encryption, which then stays in the message.
        var keepsSignatures = false
        /// Whether only layers with authenticated encryption are decrypted.
        var isAuthenticatedOnly = false
        /// Whether opening ended at a signature inside the encryption.
        var keptSignature = false
        var plaintext: Plaintext?
        /// The headers of decrypted entities that are layers themselves, the outermost first.
        var between: [HeaderBlock] = []
        var result = Verification()
        var isEncrypted = false
        /// Whether a layer was compressed.
        var isCompressed = false
        /// Whether a layer's encryption is not authenticated. An attacker could then change the ciphertext, and learn about
        /// the plaintext from different errors.
        var isMalleable = false
        /// Whether the padding of a layer is wrong. Opening then takes as long as with the right padding, and fails at the end.
        var isSubstitute = false
        /// The message's header fields inside its layers of protection; nil if there are none.
        var protected: ProtectedHeader?
        /// The header fields inside the outermost signature; nil if there are none, or they cannot be read without a key.
        var signedHeader: ProtectedHeader?
        /// The fields in the headers of layers inside the encryption: those of a message that was already signed when its
        /// fields were hidden. Nil if there are none.
        var layerHeader: ProtectedHeader?

        /// Reads the fields in the header of `layer`, if it is inside the encryption.
        mutating func noteHeader(of layer: LocatedEntity?) throws(MIMEError) {
            guard isEncrypted, let layer, let found = ProtectedHeader(of: layer.entity.header), found.scheme == .cipher
            else { return }
            layerHeader = try including(found)
        }

        /// `own`, the fields inside the layers, with the fields in the headers of the layers.
        func including(_ own: ProtectedHeader?) throws(MIMEError) -> ProtectedHeader? {
            guard let layerHeader else { return own }
            return try ProtectedHeader(own, inside: layerHeader)
        }
    }

    private func open(_ opening: Opening) async throws -> OpenedMessage {
        var opening = opening
        do {
            try await openLayers(&opening)
            if opening.isSubstitute { throw CMSError.decryptionFailed }
        } catch {
            guard opening.isMalleable, error.isAboutMessage else { throw error }
            throw CMSError.decryptionFailed
        }
        guard opening.isEncrypted || opening.isCompressed else { throw MessageError.notEncrypted }
        opening.result.report.noteCosigners()
        try opening.source.checkUnchanged()
        return OpenedMessage(
            report: opening.result.report.report,
            source: opening.source,
            header: opening.header,
            protected: opening.protected,
            part: opening.part,
            plaintext: opening.plaintext,
            between: opening.between,
            keepsSignature: opening.keptSignature
        )
    }

    private func openLayers(_ opening: inout Opening) async throws {
        layers: while let step = try opening.walker.next() {
            try Task.checkCancellation()
            try opening.noteHeader(of: step.part)
            switch step.layer {
            case .signed(let signed) where opening.keepsSignatures && opening.isEncrypted:
                try await judge(signed, &opening)
                let own = try protectedHeader(&opening)
                opening.protected = try opening.including(own)
                opening.keptSignature = true
                return opening.result.report.noteOuterSignature()
            case .signed(let signed) where signed.hasOnlyCertificates && opening.isEncrypted: break layers
            case .signed(let signed): try await read(signed, &opening)
            case .encrypted(let encrypted): try await read(encrypted, &opening)
            case .compressed: try read(compressed: &opening)
            }
            if opening.header == nil, opening.isEncrypted || opening.isCompressed {
                return try await judgeContent(&opening)
            }
        }
        try readHeader(&opening)
        try await judgeParts(&opening)
        opening.result.report.noteOuterSignature()
    }

    /// Reads the header fields inside the encryption, and removes their copies from the body text (legacy display, RFC 9788),
    /// which are for mail programs without header protection. Without encryption, the header fields inside the signature are
    /// reported, as `verify` does.
    private func readHeader(_ opening: inout Opening) throws {
        guard let outer = opening.header else { return }
        guard opening.isEncrypted else { return opening.result.report.note(opening.signedHeader, outer: outer) }
        try checkContentType(opening)
        if let payload = opening.part {
            opening.protected = ProtectedHeader(in: payload, outer: outer)
            if opening.protected?.scheme == .wrapped,
                let message = try payload.entity.embeddedMessage(in: payload.source)
            {
                opening.part = LocatedEntity(entity: message, source: payload.source)
                try checkContentType(opening)
            }
        } else {
            opening.protected = opening.plaintext?.header.flatMap { ProtectedHeader(of: $0) }
        }
        let own = opening.protected
        opening.protected = try opening.including(own)
        opening.result.report.note(opening.protected, outer: outer)
        guard own?.scheme == .cipher,
            let shown = try opening.part
                ?? opening.plaintext.flatMap({ try $0.marks().mayHoldLegacyDisplay ? $0.spooled() : nil }),
            let source = try LegacyDisplay.removing(from: shown.entity, in: shown.source)
        else { return }
        opening.part = try LocatedEntity(reading: source)
        opening.plaintext = nil
    }

    /// Requires that the decrypted entity has at most one Content-Type and one Content-Transfer-Encoding. If there are
    /// several, programs choose different ones.
    ///
    /// RFC 2045 §3
    private func checkContentType(_ opening: Opening) throws(MessageError) {
        guard let header = opening.part?.entity.header ?? opening.plaintext?.header else { return }
        if header.all("Content-Type").count > 1 { throw .defective(.duplicateContentType) }
        if header.all("Content-Transfer-Encoding").count > 1 { throw .defective(.duplicateTransferEncoding) }
    }

    private func read(_ layer: SignedLayer, _ opening: inout Opening) async throws {
        try await judge(layer, &opening)
        guard let content = layer.content else {
            throw layer.hasOnlyCertificates
                ? MessageError.certificatesOnly : .malformed("a signature without content")
        }
        opening.part = content
        opening.plaintext = nil
    }

    private func judge(_ layer: SignedLayer, _ opening: inout Opening) async throws {
        let protected = try protectedHeader(&opening)
        opening.signedHeader = opening.signedHeader ?? protected
        try await judge(
            layer,
            header: opening.header,
            protected: protected,
            coverage: .whole,
            into: &opening.result
        )
    }

    private func read(compressed opening: inout Opening) throws {
        opening.isCompressed = true
        opening.result.report.add(CompressedLayer.layer)
        opening.part = try opening.walker.content()
        opening.plaintext = nil
    }

    /// The message's header fields inside the current signature; nil if there are none, or they cannot be read without a key.
    private func protectedHeader(_ opening: inout Opening) throws -> ProtectedHeader? {
        guard let outer = opening.header else { return nil }
        let payload = try opening.walker.payload() ?? opening.walker.damaged
        if opening.walker.damaged != nil { opening.result.report.noteUnreadableLayer() }
        return payload.flatMap { ProtectedHeader(in: $0, outer: outer) }
    }

    private func read(_ layer: EncryptedLayer, _ opening: inout Opening) async throws {
        guard layer.data.isAuthenticated || !opening.isAuthenticatedOnly else {
            throw MessageError.unauthenticated(cipher: layer.data.algorithm)
        }
        opening.result.report.add(layer.layer)
        opening.isEncrypted = true
        let plaintext: Plaintext
        if let secret, layer.mayOpen(with: secret) {
            plaintext = try layer.decrypt(with: secret)
        } else {
            plaintext = try layer.decrypt(with: try await provider.identity(for: layer.recipientIdentifiers))
        }
        opening.result.report.note(layer.defects + plaintext.problems)
        opening.isMalleable = opening.isMalleable || !layer.data.isAuthenticated
        opening.isSubstitute = opening.isSubstitute || plaintext.content.isSubstitute
        guard opening.header != nil else {
            opening.part = nil
            return opening.plaintext = plaintext
        }
        let mayBeLayer = plaintext.header.map { Entity.mayBeSecured($0) || Entity.isMessage($0) } ?? false
        opening.part = mayBeLayer ? try plaintext.spooled() : nil
        opening.plaintext = mayBeLayer ? nil : plaintext
        if mayBeLayer, let header = plaintext.header { opening.between.append(header) }
        opening.walker.enter(opening.part)
    }
}
