import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

/// Describes the parts and layers of one file, and counts them. `EntityLocation` finds the layers.
///
/// The inspector reads each layer as an outline instead of opening it, so it can also show damaged layers.
struct Inspector {
    private var parts = 0
    private var layers = 0
    /// The number of bytes of certificates and similar data that may still be kept.
    private var left = CMSOutline.maximumCount
    /// The number of bytes that may still be decompressed.
    private var decompressedLeft = 256 << 20

    /// The maximum number of CMS objects in one file, at any depth.
    private static let maximumObjects = 200
    /// The number of bytes that are read from a body at once. If the encoding is damaged, at most this number of bytes is
    /// lost.
    private static let piece = 256
    /// The Content-Type parameters that are shown.
    fileprivate static let shownParameters = ["charset", "micalg", "protocol", "smime-type"]

    /// Inspects a mail message.
    mutating func message(in source: any ByteSource) throws -> Inspection.Part {
        try part(EntityLocation(LocatedEntity(reading: source)))
    }

    /// Inspects a bare CMS object.
    ///
    /// - Throws: `CMSError` if it is not a CMS object.
    mutating func object(_ stream: ByteStream, depth: Int = 0) throws -> Inspection.Layer {
        layers += 1
        let spool = Spool()
        let type = try CMSContentType(of: stream)
        let isSigned = type == .signedData
        let outline = try CMSOutline(reading: stream, content: isSigned ? spool : CountingSink(), limit: left)
        left = max(0, left - outline.count)
        var layer = Inspection.Layer(outline: outline, content: nil, problems: outline.problems)
        if type == .compressedData, outline.problems.isEmpty {
            do { layer.content = try content(of: decompress(stream), depth: depth + 1) } catch {
                layer.problems.append(try Problem(describing: error))
            }
        }
        guard isSigned, let count = outline.contentCount, count > 0, outline.contentType == "data" else { return layer }
        do { layer.content = try content(of: spool.finish(), depth: depth + 1) } catch {
            layer.problems.append(try Problem(describing: error))
        }
        return layer
    }

    private mutating func decompress(_ stream: ByteStream) throws -> any ByteSource {
        let spool = Spool()
        var count = 0
        // The output of a damaged object counts toward the limit, too.
        defer { decompressedLeft -= count }
        let sink = ClosureSink { bytes in
            count += bytes.count
            try spool.write(bytes)
        }
        try CompressedData(reading: stream, limit: decompressedLeft).content.makeReader().copy(to: sink)
        return try spool.finish()
    }

    /// The signed or compressed content: a MIME entity or a CMS object; nil for anything else.
    private mutating func content(of source: any ByteSource, depth: Int) throws -> Inspection.Content? {
        let head = try source.bytes(in: 0..<min(source.count, 2))
        if head.first == 0x30, try CMSOutline.isCMS(source.stream()) {
            guard mayOpen(depth) else { throw MessageError.tooManyLayers }
            return .layer(try object(source.stream(), depth: depth))
        }
        let entity = try MIMEReader.message(in: source)
        guard !entity.header.fields.isEmpty || head.first == 10 || head == [13, 10] else { return nil }
        return .part(try part(EntityLocation(LocatedEntity(entity: entity, source: source), depth: depth)))
    }

    private mutating func part(_ place: EntityLocation) throws -> Inspection.Part {
        parts += 1
        guard parts <= MIMELimit.parts.rawValue else { throw MIMEError.limitExceeded(.parts) }
        var result = Inspection.Part(place.part.entity)
        var found: FoundLayer?
        do throws(MessageError) { found = try place.layer() ?? place.detachedSignature } catch {
            result.problems.append(try Problem(describing: error))
            found = place.bodyAsLayer
        }
        if let found {
            try open(found, place.depth, into: &result)
            if found.content != nil, let type = result.layer?.outline.type, type != .signedData {
                result.problems.append(Problem(.malformed, "the second part of multipart/signed is not a signature"))
            }
        }
        if let content = found?.content, let found {
            // The signature of the multipart was already inspected.
            parts += 1
            result.parts = [try part(place.signedPart(content)), Inspection.Part(found.object)]
        } else {
            result.parts = try children(of: place, problems: &result.problems)
        }
        return result
    }

    /// The parts of a multipart, or the embedded message.
    private mutating func children(of place: EntityLocation, problems: inout [Problem]) throws -> [Inspection.Part] {
        guard !place.isTooDeep else {
            problems.append(Problem(.tooDeep, "messages nested more deeply are not inspected"))
            return []
        }
        let children: [EntityLocation]
        do { children = try place.parts() } catch {
            problems.append(try Problem(describing: error))
            return []
        }
        return try children.map { try part($0) }
    }

    /// Reads and describes the CMS object `found`.
    private mutating func open(_ found: FoundLayer, _ depth: Int, into result: inout Inspection.Part) throws {
        guard mayOpen(depth) else {
            result.problems.append(Problem(.tooManyLayers, "there are too many layers to inspect them all"))
            return
        }
        do {
            let body = found.object.decodedBody(of: found.source).inPieces(of: Self.piece)
            let layer = try object(body, depth: depth)
            if let why = Layer.contradiction(of: layer.outline.type, to: found.declaredType) {
                result.problems.append(Problem(.malformed, why))
            }
            result.problems += Layer.weakerTypeWarnings(of: layer.outline.type, found.declaredType)
            result.layer = layer
        } catch { result.problems.append(try Problem(describing: error)) }
    }

    private func mayOpen(_ depth: Int) -> Bool { depth < MessageOpener.maximumLayers && layers < Self.maximumObjects }
}

extension Inspection.Part {
    /// Describes the entity by its header.
    fileprivate init(_ entity: Entity) {
        let type = entity.contentType
        mediaType = type.name
        let named = Inspector.shownParameters.compactMap { name in type.parameters[name].map { (name, $0) } }
        parameters = Dictionary(uniqueKeysWithValues: named)
        transferEncoding = entity.transferEncoding.name
        filename = entity.disposition?.filename ?? type.parameters["name"]
        count = entity.bodyRange.count
        problems = entity.defects.sorted { $0.rawValue < $1.rawValue }
            .map(Problem.init)
    }
}
