import ByteStreams
import InternetMessage

extension Target {
    /// Unusually nested parts, processed by the structure scan and the 7-bit writer.
    ///
    /// Each input is read twice: as a message, and as a message in which each byte selects a line, because mutated bytes
    /// rarely become delimiters of nested multiparts.
    static let nestings = Target(name: "nestings") { bytes in
        for message in [bytes, bytes.prefix(2000).flatMap { line($0) }] { try? check(message) }
    }

    private static func check(_ bytes: [UInt8]) throws {
        let source = MemorySource(bytes)
        let message = try MIMEReader.message(in: source)
        requireOrder(message)
        let form = try SevenBitEncoding(of: message, in: source)
        let sink = MemorySink()
        try form.write(to: sink)
        let again = try MIMEReader.message(in: MemorySource(sink.bytes))
        requireOrder(again)
        guard form.unsafeParts.isEmpty, form.unsafeMessages.isEmpty else { return }
        // An mbox "From " line before the message is never signed.
        let isSafe = !message.header.leadingBytes.isEmpty || sink.bytes.allSatisfy { $0 < 128 }
        require(isSafe, "the 7-bit form has seven bits")
        require(count(again) == count(message), "the 7-bit form has the same parts")
    }

    private static func count(_ entity: Entity) -> Int { entity.children.reduce(1) { $0 + count($1) } }

    /// Requires the ranges of an entity to be as `Entity` documents them.
    static func requireOrder(_ entity: Entity) {
        let (header, body) = (entity.header, entity.bodyRange)
        require(header.range.lowerBound == entity.range.lowerBound, "an entity begins with its header")
        require(header.range.upperBound <= header.separatorRange.lowerBound, "the empty line follows the header")
        require(header.separatorRange.upperBound == body.lowerBound, "the body follows the header")
        require(body.upperBound == entity.range.upperBound, "an entity ends with its body")
        var position = body.lowerBound
        for child in entity.children {
            require(position <= child.range.lowerBound, "a part lies behind the one before it")
            require(child.range.upperBound <= body.upperBound, "a part lies inside the body around it")
            position = child.range.upperBound
            requireOrder(child)
        }
    }

    /// The line that a byte selects: five bits select the text, the others the line end.
    private static func line(_ byte: UInt8) -> [UInt8] {
        let ends = ["\n", "\r\n", "\n", "\r\n", "\n", "", "\r", " \t\n"]
        return Array(lines[Int(byte & 31)].utf8) + Array(ends[Int(byte >> 5)].utf8)
    }

    private static let lines = [
        "", "--A", "--B", "--AB", "--A--", "--B--", "--AB--", "--A----", "Content-Type: multipart/mixed; boundary=A",
        "Content-Type: multipart/mixed; boundary=B", "Content-Type: multipart/digest; boundary=AB",
        "Content-Type: multipart/alternative; boundary=\"A--\"", "Content-Type: multipart/related; boundary=\"A \"",
        "Content-Type: message/rfc822", "Content-Type: message/partial", "Content-Type: application/x",
        "Content-Type: text/plain",
        "Content-Transfer-Encoding: base64", "Content-Transfer-Encoding: quoted-printable",
        "Content-Transfer-Encoding: binary", "Content-Transfer-Encoding: x-own", "Subject: gr\u{FC}n", "X: y", "x",
        "gr\u{FC}n",
        "From me", ".", "=2D-A", "=2D-B--", "\0", "aGVsbG8=", " ",
    ]
}
