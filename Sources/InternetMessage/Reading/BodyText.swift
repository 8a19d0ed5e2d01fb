package import ByteStreams

/// The text of a body after decoding the transfer encoding and the character set.
package struct BodyText: Sendable {
    /// The text, which may contain any characters. Invalid bytes are replaced by U+FFFD.
    package let text: String
    /// Whether the body has more text than was read.
    package let isCut: Bool
    /// Whether the transfer encoding is damaged, so that the text ends early.
    package let isDamaged: Bool

    /// Whether the body has text, but none of it was read.
    package var isLeftOut: Bool { isCut && text.isEmpty }

    package init(_ text: String, isCut: Bool = false, isDamaged: Bool = false) {
        self.text = text
        self.isCut = isCut
        self.isDamaged = isDamaged
    }
}

extension Entity {
    /// Reads the text of the body.
    ///
    /// - Parameter limit: the maximum number of decoded bytes to read.
    /// - Throws: errors of reading the source.
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

    /// The decoded file name of the part; nil if there is none.
    package var fileName: String? {
        (disposition?.filename ?? contentType.parameters["name"]).map { EncodedWord.decode($0) }
    }
}
