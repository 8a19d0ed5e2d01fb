public import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

extension MessageOpener {
    /// Opens every layer of a whole message.
    ///
    /// - Parameter keepingSignatures: whether a signature inside the encryption is judged and stays in the message, with
    ///   all that is in it, so that its recipient can judge it, too.
    /// - Parameter onlyAuthenticated: whether nothing is decrypted that its encryption does not protect against changes
    ///   (CBC): who answers strangers tells them nothing about such plaintext then.
    /// - Throws: `SMIMEError.notEncrypted` if no layer is encrypted or compressed,
    ///   `SMIMEError.certificatesOnly`, `SMIMEError.notARecipient`, `SMIMEError.unauthenticated`,
    ///   `CMSError.decryptionFailed`, `CancellationError`, and what reading and the provider throw.
    public func decrypt(
        _ source: any ByteSource,
        keepingSignatures: Bool = false,
        onlyAuthenticated: Bool = false
    ) async throws -> OpenedMessage {
        guard source.count > 0 else { throw SMIMEError.malformed("the input is empty") }
        let message = try MIMEReader.message(in: source)
        let opening = Opening(
            source: source,
            header: message.header,
            part: LocatedEntity(entity: message, source: source),
            keepsSignatures: keepingSignatures,
            isAuthenticatedOnly: onlyAuthenticated
        )
        return try await forOneVerdict.open(opening, first: nil)
    }

    /// Opens the bare CMS object `stream`, whose bytes come from `source`, as far as the content that was encrypted or
    /// compressed, which comes out byte for byte.
    ///
    /// That content is a file: if it is signed mail, its signatures are judged and stay in it.
    public func decrypt(cms stream: ByteStream, in source: any ByteSource) async throws -> OpenedMessage {
        let layer = try Layer(cms: stream, declared: nil, content: .anything)
        return try await forOneVerdict.open(Opening(source: source, header: nil, part: nil), first: layer)
    }

    /// How far a message is opened.
    private struct Opening {
        let source: any ByteSource
        /// The header of the message as it came; nil for a bare CMS object.
        let header: HeaderBlock?
        /// The entity reached; nil if it is plaintext that is not held.
        var part: LocatedEntity?
        /// Whether a signature inside the encryption is the end.
        var keepsSignatures = false
        /// Whether a layer that its encryption does not protect against changes stays closed.
        var isAuthenticatedOnly = false
        /// Whether that end was reached.
        var keptSignature = false
        var plaintext: Plaintext?
        var result = VerifiedContent()
        var isEncrypted = false
        /// Whether a layer was compressed.
        var isCompressed: Bool { result.report.layers.contains { $0.kind == .compressed } }
        /// Whether anybody can have changed the plaintext, and so learn about it from what is said to be wrong with it.
        var isMalleable = false
        /// The message's header fields inside its protection.
        var protected: ProtectedHeader?
        /// What is inside all layers that need no key; it is the same for all signatures around it.
        var payload = Payload.unknown
    }

    private enum Payload {
        case known(LocatedEntity?)
        case unknown
    }

    private func open(_ opening: Opening, first: Layer?) async throws -> OpenedMessage {
        var opening = opening
        do {
            try await openLayers(&opening, first: first)
        } catch {
            guard opening.isMalleable, tellsOfContent(error) else { throw error }
            throw CMSError.decryptionFailed
        }
        guard opening.isEncrypted || opening.isCompressed else { throw SMIMEError.notEncrypted }
        opening.result.report.noteCosigners()
        try opening.source.checkUnchanged()
        return OpenedMessage(
            report: opening.result.report,
            source: opening.source,
            header: opening.header,
            protected: opening.protected,
            part: opening.part,
            plaintext: opening.plaintext,
            keepsSignature: opening.keptSignature
        )
    }

    private func openLayers(_ opening: inout Opening, first: Layer?) async throws {
        let isMail = opening.header.map { !$0.isOnlyStructural } ?? false
        // An odd header keeps no reader from the content, but says nothing for certain about the author.
        let ignored: Set<MIMEDefect> = [.hiddenFields]
        var next = try first ?? opening.part.flatMap { try Layer($0, isMail: isMail, ignoring: ignored) }
        if let message = opening.part?.entity, message.defects.contains(.hiddenFields) {
            opening.result.report.problems.append(Problem(.hiddenFields))
        }
        layers: while let layer = next {
            try Task.checkCancellation()
            guard opening.result.report.layers.count < Self.maximumLayers else { throw SMIMEError.tooManyLayers }
            switch layer {
            case .signed(let signed) where opening.keepsSignatures && opening.isEncrypted:
                try await judge(signed, &opening)
                opening.protected = try protectedHeader(in: signed, &opening)
                opening.keptSignature = true
                return opening.result.report.noteOuterSignature()
            case .signed(let signed) where signed.onlyBringsCertificates && opening.isEncrypted: break layers
            case .signed(let signed): try await read(signed, &opening)
            case .encrypted(let encrypted): try await read(encrypted, &opening)
            case .compressed(let compressed): try read(compressed, &opening)
            }
            if opening.header == nil, opening.isEncrypted || opening.isCompressed {
                return try await judgeContent(&opening)
            }
            next = try opening.part.flatMap { try Layer($0) }
        }
        try readHeader(&opening)
        opening.result.report.noteOuterSignature()
    }

    /// Judges the signatures in the content of a bare CMS object, which stays as it is.
    private func judgeContent(_ opening: inout Opening) async throws {
        let content = try contentToJudge(opening)
        // What cannot be opened without a key, or is malformed, is a file like any other.
        let layers = (try? innerLayers(of: content).layers) ?? []
        for (layer, signed) in layers {
            var signers: [VerificationReport.Signer] = []
            if let signed { signers = try await judge(signed, header: nil) }
            opening.result.report.add(layer, signers: signers)
            opening.result.report.noteInnerSignature()
            if !signers.isEmpty { opening.result.report.coverage = .whole }
        }
        opening.result.report.noteOuterSignature()
    }

    /// The content of a bare CMS object as an entity that may be signed; nil if its header does not say so.
    private func contentToJudge(_ opening: Opening) throws -> LocatedEntity? {
        guard let plaintext = opening.plaintext else { return opening.part }
        guard let header = plaintext.header, Entity.mayBeSecured(header) else { return nil }
        do { return try plaintext.spooled() } catch {
            guard tellsOfContent(error) else { throw error }
            return nil
        }
    }

    /// Looks for the message's header fields in the innermost content, and takes away what is there for readers who do not.
    private func readHeader(_ opening: inout Opening) throws {
        guard let outer = opening.header, opening.isEncrypted else { return }
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
        opening.result.report.note(opening.protected, outer: outer)
        guard opening.protected?.scheme == .cipher,
            let shown = try opening.part
                ?? opening.plaintext.flatMap({ $0.mayHoldLegacyDisplay ? try $0.spooled() : nil }),
            let source = try LegacyDisplay.removing(from: shown.entity, in: shown.source)
        else { return }
        opening.part = LocatedEntity(entity: try MIMEReader.message(in: source), source: source)
        opening.plaintext = nil
    }

    /// Makes sure that what was decrypted says once what it is, as for what is signed: readers choose differently.
    ///
    /// RFC 2045 §3
    private func checkContentType(_ opening: Opening) throws(SMIMEError) {
        guard let header = opening.part?.entity.header ?? opening.plaintext?.header else { return }
        if header.all("Content-Type").count > 1 { throw .defective(.duplicateContentType) }
        if header.all("Content-Transfer-Encoding").count > 1 { throw .defective(.duplicateTransferEncoding) }
    }

    private func read(_ layer: SignedLayer, _ opening: inout Opening) async throws {
        try await judge(layer, &opening)
        guard let content = layer.content else {
            throw layer.onlyBringsCertificates
                ? SMIMEError.certificatesOnly : .malformed("a signature without content")
        }
        opening.part = content
        opening.plaintext = nil
    }

    private func judge(_ layer: SignedLayer, _ opening: inout Opening) async throws {
        try await judge(
            layer,
            header: opening.header,
            protected: try protectedHeader(in: layer, &opening),
            coverage: .whole,
            into: &opening.result
        )
    }

    private func read(_ layer: CompressedLayer, _ opening: inout Opening) throws {
        guard !opening.result.report.layers.contains(where: { $0.kind == .compressed }) else {
            throw CMSError.limitExceeded("one layer of compression")
        }
        opening.result.report.add(CompressedLayer.layer)
        opening.part = try layer.content()
        opening.plaintext = nil
    }

    /// The message's header fields inside the signature `layer`, if no key is needed to get at them.
    private func protectedHeader(
        in layer: SignedLayer,
        _ opening: inout Opening
    ) throws(SMIMEError) -> ProtectedHeader? {
        guard let outer = opening.header else { return nil }
        if case .unknown = opening.payload { opening.payload = .known(try innerLayers(of: layer.content).payload) }
        guard case .known(let payload?) = opening.payload else { return nil }
        return ProtectedHeader(in: payload, outer: outer)
    }

    private func read(_ layer: EncryptedLayer, _ opening: inout Opening) async throws {
        guard layer.data.isAuthenticated || !opening.isAuthenticatedOnly else {
            throw SMIMEError.unauthenticated(cipher: layer.data.algorithm)
        }
        opening.result.report.add(layer.layer)
        opening.isEncrypted = true
        opening.payload = .unknown
        let plaintext: Plaintext
        if let secret, layer.mayOpen(with: secret) {
            plaintext = try layer.decrypt(with: secret)
        } else {
            plaintext = try layer.decrypt(with: try await provider.keys(for: layer.recipientIdentifiers))
        }
        opening.result.report.problems += layer.oddities + plaintext.problems
        opening.isMalleable = opening.isMalleable || !layer.data.isAuthenticated
        guard opening.header != nil else {
            opening.part = nil
            return opening.plaintext = plaintext
        }
        let mayBeLayer = plaintext.header.map { Entity.mayBeSecured($0) || Entity.isMessage($0) } ?? false
        opening.part = mayBeLayer ? try plaintext.spooled() : nil
        opening.plaintext = mayBeLayer ? nil : plaintext
    }
}

/// Whether `error` says something about what a message holds, and nothing about disk, store or caller.
private func tellsOfContent(_ error: any Error) -> Bool {
    switch error {
    case MIMEError.unreadable: false
    case StreamError.malformedBase64: true
    default: error is CMSError || error is SMIMEError || error is MIMEError
    }
}
