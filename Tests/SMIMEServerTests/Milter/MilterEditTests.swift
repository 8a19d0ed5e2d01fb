import NIOCore
import SMIMEServer
import TestSupport
import Testing

/// Header changes, applied as Postfix and Sendmail do it, yield exactly the wanted header.
@Suite struct MilterEditTests {
    private static let body = "one\r\ntwo\r\n"

    /// The message after a session changed its header to `new`.
    private func changed<Server: SimulatedMailServer>(
        _ old: [String],
        to new: String,
        as _: Server.Type,
        options: MilterOptions = MilterClientSide.postfix,
        body: String? = nil
    ) throws -> (server: Server, replies: [MilterReply]) {
        var session = MilterSession()
        let header = old.map { field in
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        let isExact = options.steps.contains(.leadingSpace)
        let sent = isExact ? header : header.map { ($0.0, $0.1.first == " " ? String($0.1.dropFirst()) : $0.1) }
        _ = session.receive(
            MilterClientSide.opening(options) + MilterClientSide.message(header: sent, body: [Self.body])
        )
        var bytes = try session.finish(
            .replace(MilterReplacement(header: Array(new.utf8), body: body == nil ? .unchanged : .follows))
        )
        if let body {
            bytes.writeImmutableBuffer(session.replaceBody(ByteBuffer(string: body)))
            bytes.writeImmutableBuffer(session.finishBody())
        }
        let replies = try MilterClientSide.replies(in: bytes)
        #expect(replies.last == .continue)
        var server = Server(fields: old, body: Self.body)
        server.apply(replies, leadingSpace: isExact)
        return (server, replies)
    }

    private func check(_ old: [String], to new: String, body: String? = nil) throws {
        let postfix = try changed(old, to: new, as: PostfixQueueFile.self, body: body)
        #expect(postfix.server.message == new + "\r\n" + (body ?? Self.body))
        let sendmail = try changed(old, to: new, as: SendmailHeaderList.self, body: body)
        #expect(sendmail.server.message == new + "\r\n" + (body ?? Self.body))
    }

    private static let plain = [
        "Received: from a by b\n\tfor c", "From: alice@example.org", "Date: Mon, 1 Jan 2024 00:00:00 +0000",
        "Message-ID: <1@a>",
        "Received: from x", "Subject: test\n folded", "MIME-Version: 1.0", "Content-Type: text/plain",
        "Content-Transfer-Encoding: 8bit",
    ]

    private static func text(_ fields: [String]) -> String {
        fields.map { $0.split(separator: "\n").joined(separator: "\r\n") + "\r\n" }.joined()
    }

    @Test func `the same header needs no change`() throws {
        let result = try changed(Self.plain, to: Self.text(Self.plain), as: PostfixQueueFile.self)
        #expect(result.replies == [.continue])
    }

    @Test func `a verdict on top is one insertion behind the server's own Received field`() throws {
        let new = "Authentication-Results: mx; smime=pass\r\n" + Self.text(Self.plain)
        try check(Self.plain, to: new)
        let replies = try changed(Self.plain, to: new, as: PostfixQueueFile.self).replies
        #expect(replies.count == 2)
        guard case .insertHeader(1, _) = replies[0] else { return #expect(Bool(false), "\(replies)") }
    }

    @Test func `a forged verdict in the middle is removed, and everything else is kept`() throws {
        let forged = Self.plain[..<5] + ["Authentication-Results: mx; smime=pass"] + Self.plain[5...]
        let new = "Authentication-Results: mx; smime=fail\r\n" + Self.text(Self.plain)
        try check(Array(forged), to: new)
        #expect(try changed(Array(forged), to: new, as: PostfixQueueFile.self).replies.count == 3)
    }

    @Test func `a signed message changes its content fields in place`() throws {
        var fields = Self.plain
        fields[7] = "Content-Type: multipart/signed; protocol=\"application/pkcs7-signature\";\n boundary=\"b\""
        fields.removeLast()
        try check(fields, to: Self.text(fields), body: "--b\r\n\r\n--b--\r\n")
        let replies = try changed(Self.plain, to: Self.text(fields), as: PostfixQueueFile.self).replies
        #expect(replies.count == 3)
    }

    @Test func `a Date that was missing replaces the one that Sendmail would add`() throws {
        let old = ["From: alice@example.org", "Subject: test"]
        let new = Self.text(old) + "Date: Mon, 1 Jan 2024 00:00:00 +0000\r\n"
        #expect(try changed(old, to: new, as: PostfixQueueFile.self).server.message == new + "\r\n" + Self.body)
        #expect(try changed(old, to: new, as: SendmailHeaderList.self).server.doubledDefaults == [])
    }

    @Test(arguments: 0..<400)
    func `edits turn any header into any other`(seed: Int) throws {
        var random = SeededGenerator(seed)
        let names = ["Received", "received", "Subject", "X-A", "X-B", "Content-Type", "Comments"]
        let values = [
            "", " ", " a", "b", "\tc", " folded\n here", " folded\n\tand\n again", "\n first line empty",
            "  two blanks ", " %s",
        ]
        func field() -> String {
            "\(names.randomElement(using: &random) ?? ""):\(values.randomElement(using: &random) ?? "")"
        }
        let old = (0..<Int.random(in: 0...12, using: &random)).map { _ in field() }
        var new = old
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let place = Int.random(in: 0...new.count, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: new.insert(field(), at: place)
            case 1 where place < new.count: new.remove(at: place)
            case 2 where place < new.count: new[place] = field()
            case 3: new.shuffle(using: &random)
            default: break
            }
        }
        try check(old, to: Self.text(new), body: seed.isMultiple(of: 3) ? "new\r\n" : nil)
    }

    @Test(arguments: 0..<100)
    func `a version 2 server writes one space behind the colon`(seed: Int) throws {
        var random = SeededGenerator(seed)
        let names = ["Received", "Subject", "X-A"]
        let values = [" a", " b\n c", "  d"]
        func fields() -> [String] {
            (0..<Int.random(in: 0...8, using: &random)).map { _ in
                "\(names.randomElement(using: &random) ?? ""):\(values.randomElement(using: &random) ?? "")"
            }
        }
        let old = fields()
        let new = Self.text(fields())
        let result = try changed(old, to: new, as: PostfixQueueFile.self, options: MilterClientSide.oldest)
        #expect(result.server.message == new + "\r\n" + Self.body)
    }

    @Test func `a header that is too long for a table of all pairs is changed, too`() throws {
        let old = (0..<600).map { "X-\($0 % 7): \($0)" }
        try check(old, to: Self.text(old.reversed().map { $0 + "x" }))
        try check(old, to: Self.text(old.enumerated().filter { $0.offset % 5 != 0 }.map(\.element)))
    }

    @Test func `a body is sent in pieces that Sendmail accepts, none of them empty`() throws {
        var session = MilterSession()
        _ = session.receive(MilterClientSide.opening() + MilterClientSide.message(header: []))
        _ = try session.finish(.replace(MilterReplacement(header: [], body: .follows)))
        #expect(session.progress() == nil)
        let pieces = try MilterClientSide.replies(in: session.replaceBody(ByteBuffer(repeating: 0x61, count: 200_000)))
        let sizes = pieces.map { reply in if case .replaceBody(let piece) = reply { piece.readableBytes } else { 0 } }
        #expect(sizes == [65_535, 65_535, 65_535, 3_395])
        #expect(try MilterClientSide.replies(in: session.finishBody()) == [.continue])
        _ = session.receive(MilterClientSide.message(header: []))
        _ = try session.finish(.replace(MilterReplacement(header: [], body: .follows)))
        let last = try MilterClientSide.replies(in: session.finishBody())
        #expect(last == [.replaceBody(ByteBuffer(string: "\r\n")), .continue])
    }
}
