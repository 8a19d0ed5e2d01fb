import InternetMessage

extension MessageOpener {
    /// Judges the signatures in parts of decrypted mail, as `verify` does for other mail. A signature over the whole message
    /// covers its parts.
    func judgeParts(_ opening: inout Opening) async throws {
        guard let header = opening.header, opening.isEncrypted, opening.result.report.signers.isEmpty,
            let content = try opening.part ?? structure(of: opening.plaintext)
        else { return }
        do {
            try await judgeParts(
                of: EntityLocation(content, depth: opening.result.report.layers.count),
                header: header,
                protected: opening.protected,
                into: &opening.result
            )
        } catch {
            try opening.result.report.note(error)
        }
    }

    /// The structure of plaintext that may have parts; nil if it has none, or its structure cannot be read.
    private func structure(of plaintext: Plaintext?) throws -> LocatedEntity? {
        guard let plaintext, plaintext.header?.mayHaveParts == true else { return nil }
        return try Self.spooled(plaintext)
    }

    /// The plaintext as an entity; nil if its structure cannot be read.
    private static func spooled(_ plaintext: Plaintext) throws -> LocatedEntity? {
        do { return try plaintext.spooled() } catch {
            guard error.isAboutMessage else { throw error }
            return nil
        }
    }

    /// Judges the signatures in the content of a bare CMS object. The content is not changed.
    ///
    /// Layers inside another encrypted layer or inside a damaged layer are not judged. Content with too many layers is
    /// treated as a file without signatures.
    func judgeContent(_ opening: inout Opening) async throws {
        if opening.isEncrypted { opening.walker.enter(try contentToJudge(opening)) }
        var steps: [LayerWalker.Step] = []
        do { while let step = try opening.walker.nextReadable() { steps.append(step) } } catch MessageError
            .tooManyLayers
        {
            steps = []
        }
        // If the content is a mail, its From must name the signers.
        let header = steps.first?.mailHeader
        let protected = try header.flatMap { outer in
            try opening.walker.payload().flatMap { ProtectedHeader(in: $0, outer: outer) }
        }
        for step in steps {
            var signers: [VerificationReport.Signer] = []
            if case .signed(let signed) = step.layer {
                signers = try await judge(signed, header: header, protected: protected)
            }
            opening.result.report.add(step.layer.reported, signers: signers)
            opening.result.report.noteInnerSignature()
            if !signers.isEmpty { opening.result.report.coverage = .whole }
        }
        opening.result.report.noteOuterSignature()
    }

    /// The content of a bare CMS object as an entity that may be signed; nil if its header does not say that it is
    /// protected, or its structure cannot be read.
    private func contentToJudge(_ opening: Opening) throws -> LocatedEntity? {
        guard let plaintext = opening.plaintext else { return opening.part }
        guard let header = plaintext.header, Entity.mayBeSecured(header) else { return nil }
        return try Self.spooled(plaintext)
    }
}
