import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

/// Finds the layers of a message, the outermost first. Verification, decryption and the check of a message before it is
/// protected all use it.
///
/// Each layer is opened once, as far as possible without a key. Layers found while looking ahead are stored for `next()`.
struct LayerWalker {
    /// A layer that was found.
    struct Step: Sendable {
        let layer: Layer
        /// The number of layers around this layer.
        let depth: Int
        /// The section of the message that contains the outermost layer.
        let section: [Int]
        /// The MIME entity of the layer; nil for a bare CMS object.
        let part: LocatedEntity?

        /// The header of the layer's entity if it has a From; nil otherwise. If the outermost layer is a bare CMS object,
        /// which has no header, the signers inside it are compared with this header.
        var mailHeader: HeaderBlock? { part.map(\.entity.header).flatMap { $0.first("From") == nil ? nil : $0 } }
    }

    /// The position of the search.
    private enum Frontier {
        case bare(Layer)
        case closed
        case compressed(CompressedLayer, in: EntityLocation?)
        case place(EntityLocation)
    }

    private var frontier: Frontier
    /// The entity at which a layer begins that cannot be read; nil if no such layer was found.
    private(set) var damaged: LocatedEntity?
    /// Steps that were found but not returned yet. If there is an error, it is the last element.
    private var ahead: [Result<Step, any Error>] = []
    /// The number of layers found so far, including the layers around the first place.
    private var count: Int
    private var compressedCount = 0
    private var section: [Int]?
    /// Whether the next layer is in mail. This can be false for the first layer only.
    private var isMail: Bool
    /// The defects to ignore in the header at the first place; empty for all further places.
    private var ignored: Set<MIMEDefect>

    /// A walk that begins at `place`.
    ///
    /// - Parameters:
    ///   - outer: the number of layers around `place`.
    ///   - isMail: whether `place` is in mail.
    ///   - ignored: the defects to ignore in the header at `place`.
    init(_ place: EntityLocation, inside outer: Int = 0, isMail: Bool = true, ignoring ignored: Set<MIMEDefect> = []) {
        frontier = .place(place)
        count = outer
        self.isMail = isMail
        self.ignored = ignored
    }

    /// A walk whose first layer is a bare CMS object.
    init(bare layer: Layer) {
        frontier = .bare(layer)
        count = 0
        isMail = true
        ignored = []
    }

    /// The next inner layer; nil after the innermost layer that can be reached without a key.
    ///
    /// - Throws: `MessageError.tooManyLayers`; `CMSError.limitExceeded` for a second layer of compression;
    ///   `MessageError.malformed` and `.defective`, `CMSError`, `MIMEError`; `CancellationError`; errors of reading.
    mutating func next() throws -> Step? {
        guard ahead.isEmpty else { return try ahead.removeFirst().get() }
        return try find()
    }

    /// As `next()`, for callers who ignore damage inside the message: nil also if the next layer is damaged.
    ///
    /// - Throws: `MessageError.tooManyLayers`; errors that are not about the message.
    mutating func nextReadable() throws -> Step? {
        do { return try next() } catch {
            guard error.isAboutMessage, !error.isTooManyLayers else { throw error }
            return nil
        }
    }

    /// The content of the last layer that was returned; nil if the content is encrypted or empty.
    ///
    /// - Throws: the errors of `next()`.
    mutating func content() throws -> LocatedEntity? {
        if let next = ahead.first { return try next.get().part }
        try decompress()
        guard case .place(let place) = frontier else { return nil }
        return place.part
    }

    /// The content inside all layers; nil if a layer is encrypted or damaged.
    ///
    /// - Throws: `MessageError.tooManyLayers`; errors that are not about the message.
    mutating func payload() throws -> LocatedEntity? {
        if case .failure? = ahead.last { return nil }
        do { while let step = try find() { ahead.append(.success(step)) } } catch {
            guard error.isAboutMessage, !error.isTooManyLayers else { throw error }
            ahead.append(.failure(error))
            return nil
        }
        guard case .place(let place) = frontier else { return nil }
        return place.part
    }

    /// Whether the message has readable content and, apart from signatures, no layers.
    ///
    /// - Throws: the errors of `payload()`.
    mutating func isReadable() throws -> Bool {
        guard try payload() != nil else { return false }
        return ahead.allSatisfy { found in
            if case .success(let step) = found, case .signed = step.layer { true } else { false }
        }
    }

    /// Continues inside the encrypted layer that was returned last.
    ///
    /// - Parameter plaintext: the decrypted content; nil if the content is not stored, in which case no layer inside can be
    ///   found.
    mutating func enter(_ plaintext: LocatedEntity?) {
        frontier = plaintext.map { .place(EntityLocation($0, depth: count)) } ?? .closed
    }

    private mutating func find() throws -> Step? {
        let start = frontier
        do { return try findLayer() } catch {
            damaged = Self.entity(at: frontier) ?? Self.entity(at: start)
            frontier = .closed
            throw error
        }
    }

    private static func entity(at frontier: Frontier) -> LocatedEntity? {
        switch frontier {
        case .bare, .closed: nil
        case .compressed(_, let place): place?.part
        case .place(let place): place.part
        }
    }

    private mutating func findLayer() throws -> Step? {
        try Task.checkCancellation()
        try decompress()
        let (layer, place): (Layer, EntityLocation?)
        switch frontier {
        case .bare(let first): (layer, place) = (first, nil)
        case .place(let here):
            guard let found = try here.layer(ignoring: ignored) else { return nil }
            guard count < MessageOpener.maximumLayers else { throw MessageError.tooManyLayers }
            (layer, place) = (try found.opened(isMail: isMail), here)
            section = section ?? found.section
            (isMail, ignored) = (true, [])
        case .closed, .compressed: return nil
        }
        switch layer {
        case .signed(let signed): frontier = Self.frontier(signed.content, in: place)
        case .compressed(let compressed): frontier = .compressed(compressed, in: place)
        case .encrypted: frontier = .closed
        }
        count += 1
        return Step(layer: layer, depth: count - 1, section: section ?? [], part: place?.part)
    }

    /// Opens the compressed layer that was found last. A second compressed layer is rejected: no legitimate program
    /// compresses twice.
    private mutating func decompress() throws {
        guard case .compressed(let layer, let place) = frontier else { return }
        frontier = .closed
        compressedCount += 1
        guard compressedCount == 1 else { throw CMSError.limitExceeded("one layer of compression") }
        frontier = Self.frontier(try layer.content(), in: place)
    }

    private static func frontier(_ content: LocatedEntity?, in place: EntityLocation?) -> Frontier {
        content.map { .place(place?.inside($0) ?? EntityLocation($0, depth: 1)) } ?? .closed
    }
}

extension Error {
    /// Whether the error is about the content of a message, and not about the disk, the store or the caller.
    var isAboutMessage: Bool {
        switch self as any Error {
        case MIMEError.unreadable: false
        case StreamError.malformedBase64: true
        default: self is CMSError || self is MessageError || self is MIMEError
        }
    }

    fileprivate var isTooManyLayers: Bool { self as? MessageError == .tooManyLayers }
}
