package import ByteStreams

/// The text in a body: transfer encoding and character set undone.
package struct BodyText: Sendable {
    /// The text, with whatever characters it holds; invalid bytes are U+FFFD.
    package let text: String
    /// Whether there is more than was read.
    package let isCut: Bool
    /// Whether the transfer encoding is damaged, so that the text ends early.
    package let isDamaged: Bool

    /// Whether nothing was read of what is there.
    package var isLeftOut: Bool { isCut && text.isEmpty }

    package init(_ text: String, isCut: Bool = false, isDamaged: Bool = false) {
        self.text = text
        self.isCut = isCut
        self.isDamaged = isDamaged
    }
}

extension Entity {
    /// The text of the body.
    ///
    /// - Parameter limit: how many decoded bytes are read.
    /// - Throws: what reading the source throws.
    package func bodyText(of source: any ByteSource, limit: Int) throws -> BodyText {
        var bytes: [UInt8] = []
        var isDamaged = false
        do {
            let reader = try decodedBody(of: source).makeReader()
            let window = Window()
            while bytes.count <= limit, case let count = try window.fill(from: reader), count > 0 {
                bytes.append(contentsOf: window.prefix(count))
            }
        } catch StreamError.malformedBase64 {
            isDamaged = true
        }
        let isCut = bytes.count > limit
        if isCut { bytes.removeLast(bytes.count - limit) }
        let charset = contentType.parameters["charset"] ?? ""
        let text = Charset.decode(bytes, charset: charset) ?? String(decoding: bytes, as: UTF8.self)
        return BodyText(text, isCut: isCut, isDamaged: isDamaged)
    }

    /// The name that the part's file has, decoded; nil if it has none.
    package var fileName: String? {
        (disposition?.filename ?? contentType.parameters["name"]).map { EncodedWord.decode($0) }
    }
}
