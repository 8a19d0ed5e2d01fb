import ByteStreams
import InternetMessage
import TestSupport
import Testing

/// For every nesting of parts, their ranges are in order, and rewritten messages are equivalent.
@Suite struct NestingTests {
    @Test(arguments: [
        "From: a@example.com\nContent-Type: multipart/mixed; boundary=A\n\n--A\nContent-Type: multipart/mixed; boundary=B\n\n--B\n--A--\n",
        "Content-Type: multipart/mixed; boundary=A\n\n--A\nContent-Type: multipart/mixed; boundary=B\n\n--B\r\n--A--\r\n",
        "Content-Type: multipart/mixed; boundary=A\n\n--A\nContent-Type: multipart/mixed; boundary=B\n--A--\n",
        "Content-Type: multipart/mixed; boundary=A\n\n--A\nContent-Type: multipart/digest; boundary=B\n\n--B\nX: y\n--A--\n",
        "Content-Type: multipart/mixed; boundary=A\n\n--A\nX: y\n\n--A\n--A\n\n--A--\n",
    ])
    func `a part that begins at an outer delimiter stays inside its parent`(text: String) throws {
        let (entity, source) = try parse(text.bytes)
        try entity.checkPlaces()
        let form = try SevenBitEncoding(of: entity, in: source)
        #expect(try written(form) == text.bytes.withLines(endingIn: .crlf))
    }

    /// The first two lost their parts when the boundary was written in the syntax of RFC 2231, which few programs support
    /// here.
    @Test(arguments: [
        ("multipart/mixed; boundary=\"A \u{FC}\"", "A \u{FC}", false),
        ("multipart/related; boundary=\"A \"\rX: multipart/mixed; boundary=B\rSubject: \u{FC}", "A", false),
        ("multipart/mixed; boundary=A; name=\"\u{FC}\"", "A", true),
        ("multipart/mixed; boundary=A (\u{FC})", "A", true),
    ])
    func `a boundary is kept when parts are encoded`(type: String, boundary: String, isSafe: Bool) throws {
        let part = "Content-Type: \(type)\n\n--\(boundary)\n\nx\n--\(boundary)--\n"
        for text in [part, "Content-Type: multipart/mixed; boundary=Q\n\n--Q\n\(part)--Q--\n"] {
            let (entity, source) = try parse(text.bytes)
            let form = try SevenBitEncoding(of: entity, in: source)
            #expect(form.unsafeParts.isEmpty == isSafe)
            let again = try MIMEReader.message(in: MemorySource(written(form)))
            #expect(again.shape == entity.shape)
        }
    }

    @Test(arguments: 0..<8)
    func `the byte ranges of oddly nested parts are in order`(seed: Int) throws {
        var messages = OddMessages(seed)
        for _ in 0..<OddMessages.count(standard: 2400) / 8 {
            let bytes = messages.next()
            let source = MemorySource(bytes)
            guard let entity = try? MIMEReader.message(in: source) else { continue }
            try entity.checkPlaces()
            let copy = MemorySink()
            guard let form = try? SevenBitEncoding(of: entity, in: source, copiedTo: copy) else { continue }
            let output = try written(form)
            #expect(!form.wasCopied || copy.bytes == output, "\(bytes.text)")
            let again = try MIMEReader.message(in: MemorySource(output))
            try again.checkPlaces()
            guard form.unsafeParts.isEmpty, form.unsafeMessages.isEmpty else { continue }
            // The content of multipart/signed stays as it is.
            let isFixed = try entity.holdsSigned(in: source)
            #expect(output.allSatisfy { ($0 < 128 || isFixed) && $0 != 0 }, "\(bytes.text)")
            #expect(again.shape == entity.shape, "\(bytes.text)\n=====\n\(output.text)")
        }
    }

    private func written(_ form: SevenBitEncoding) throws -> [UInt8] {
        let sink = MemorySink()
        try form.write(to: sink)
        return sink.bytes
    }
}

struct PlaceOutOfOrder: Error { let outline: String }

extension Entity {
    /// Whether there is multipart/signed in the entity, also in embedded messages.
    fileprivate func holdsSigned(in source: any ByteSource) throws -> Bool {
        if contentType.name == "multipart/signed" { return true }
        let message = try children.isEmpty ? embeddedMessage(in: source) : nil
        return try (children + [message].compactMap(\.self)).contains { try $0.holdsSigned(in: source) }
    }
}

extension Entity {
    /// The types of the parts; a message with a non-ASCII header becomes message/global.
    var shape: String {
        "\(contentType.isMessage ? "message" : contentType.name)(\(children.map(\.shape).joined(separator: " ")))"
    }

    /// Checks that the ranges are as `Entity` documents them.
    fileprivate func checkPlaces() throws {
        var isOrdered =
            header.range.lowerBound == range.lowerBound && header.range.upperBound <= header.separatorRange.lowerBound
            && header.separatorRange.upperBound == bodyRange.lowerBound && bodyRange.upperBound == range.upperBound
        var position = bodyRange.lowerBound
        for child in children {
            isOrdered = isOrdered && position <= child.range.lowerBound && child.range.upperBound <= range.upperBound
            position = child.range.upperBound
        }
        guard isOrdered else { throw PlaceOutOfOrder(outline: outline) }
        try children.forEach { try $0.checkPlaces() }
    }
}
