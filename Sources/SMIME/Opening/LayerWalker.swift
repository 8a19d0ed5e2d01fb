import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

/// Finds the layers of a message, from the outside in, for everything that looks into one: verifying, decrypting, and
/// the check of a message before it is protected.
///
/// Each layer is opened once, as far as no key is needed. What the walker finds while it looks ahead it keeps for `next()`.
struct LayerWalker {
    /// A layer that was found.
    struct Step: Sendable {
        let layer: Layer
        /// How many layers are around it.
        let depth: Int
        /// The section of the message that the outermost layer is in.
        let section: [Int]
        /// The MIME entity of the layer; nil for a bare CMS object.
        let part: LocatedEntity?
    }

    /// The position of the search.
    private enum Frontier {
        case bare(Layer)
        case closed
        case compressed(CompressedLayer, in: MessagePlace?)
        case place(MessagePlace)
    }

    private var frontier: Frontier
    /// Steps that were found and not returned yet. An error is the last.
    private var ahead: [Result<Step, any Error>] = []
    /// How many layers were found, with those around the first place.
    private var count: Int
    private var compressedCount = 0
    private var section: [Int]?
    /// Whether the next layer is in mail; all but the first are.
    private var isMail: Bool
    /// Defects of the header at the next place that are ignored; only for the first place.
    private var ignored: Set<MIMEDefect>

    /// A walk that begins at `place`.
    ///
    /// - Parameters:
    ///   - outer: the number of layers around `place`.
    ///   - isMail: whether `place` is in mail.
    ///   - ignored: defects of its header to ignore.
    init(_ place: MessagePlace, inside outer: Int = 0, isMail: Bool = true, ignoring ignored: Set<MIMEDefect> = []) {
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

    /// The next inner layer; nil after the innermost one that can be reached without a key.
    ///
    /// - Throws: `MessageError.tooManyLayers`; `CMSError.limitExceeded` inside a second layer of compression;
    ///   `MessageError.malformed` and `.defective`, `CMSError`, `MIMEError`; `CancellationError`; what reading throws.
    mutating func next() throws -> Step? {
        guard ahead.isEmpty else { return try ahead.removeFirst().get() }
        return try find()
    }

    /// The same for callers to whom damage inside does not matter: nil also if the next layer is damaged.
    ///
    /// - Throws: `MessageError.tooManyLayers`; what says nothing about the message.
    mutating func nextReadable() throws -> Step? {
        do { return try next() } catch {
            guard error.isAboutMessage, !error.isTooManyLayers else { throw error }
            return nil
        }
    }

    /// The content of the last layer that was returned; nil if it needs a key, or is empty.
    ///
    /// - Throws: as `next()`.
    mutating func content() throws -> LocatedEntity? {
        if let next = ahead.first { return try next.get().part }
        try decompress()
        guard case .place(let place) = frontier else { return nil }
        return place.part
    }

    /// The content inside all layers; nil if it needs a key, or if a layer is damaged.
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

    /// Whether there are signatures around readable content and nothing else, or no layer at all.
    ///
    /// - Throws: as `payload()`.
    mutating func isReadable() throws -> Bool {
        guard try payload() != nil else { return false }
        return ahead.allSatisfy { found in
            if case .success(let step) = found, case .signed = step.layer { true } else { false }
        }
    }

    /// Continues inside the encrypted layer that was returned last.
    ///
    /// - Parameter plaintext: the decrypted content; nil if it is not kept, so that no layer inside can be found.
    mutating func enter(_ plaintext: LocatedEntity?) {
        frontier = plaintext.map { .place(MessagePlace($0, depth: count)) } ?? .closed
    }

    private mutating func find() throws -> Step? {
        do { return try findLayer() } catch {
            frontier = .closed
            throw error
        }
    }

    private mutating func findLayer() throws -> Step? {
        try Task.checkCancellation()
        try decompress()
        let (layer, place): (Layer, MessagePlace?)
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

    /// Opens the compressed layer that was found last. A second compressed layer is rejected: no honest program compresses twice.
    private mutating func decompress() throws {
        guard case .compressed(let layer, let place) = frontier else { return }
        frontier = .closed
        compressedCount += 1
        guard compressedCount == 1 else { throw CMSError.limitExceeded("one layer of compression") }
        frontier = Self.frontier(try layer.content(), in: place)
    }

    private static func frontier(_ content: LocatedEntity?, in place: MessagePlace?) -> Frontier {
        content.map { .place(place?.inside($0) ?? MessagePlace($0, depth: 1)) } ?? .closed
    }
}

extension Error {
    /// Whether the error is about the content of a message, and not about disk, store or caller.
    var isAboutMessage: Bool {
        switch self as any Error {
        case MIMEError.unreadable: false
        case StreamError.malformedBase64: true
        default: self is CMSError || self is MessageError || self is MIMEError
        }
    }

    fileprivate var isTooManyLayers: Bool { self as? MessageError == .tooManyLayers }
}
