import NIOCore
import SMIMEServer
import TestSupport
import Testing

/// A client session talks to a server session. The bytes between them are split at random.
@Suite struct BackToBackTests {
    /// The two sessions, and the bytes in transit.
    struct Wire {
        var server: SMTPServerSession
        var client = SMTPClientSession(hostName: "gw.test")
        var random: SeededGenerator
        private var toServer = ByteBuffer()
        private var toClient = ByteBuffer()
        var answer = SMTPReply(250, "2.0.0", text: "queued")
        var content: [UInt8] = []
        private(set) var envelopes: [SMTPEnvelope] = []
        private(set) var received: [[UInt8]] = []
        private(set) var events: [SMTPClientSession.Event] = []

        init(extensions: Set<SMTPExtension>, seed: Int) {
            var settings = SMTPServerSession.Settings(dialect: .smtp, hostName: "hop.test", maximumSize: 1 << 20)
            settings.extensions = extensions
            settings.offersXFORWARD = extensions.contains(.xforward)
            server = SMTPServerSession(settings)
            random = SeededGenerator(seed)
        }

        /// Runs both sessions until neither has more to send.
        mutating func run() {
            var isBusy = true
            while isBusy {
                isBusy = false
                while let event = server.next() {
                    isBusy = true
                    serve(event)
                }
                while let event = client.next() {
                    isBusy = true
                    send(event)
                }
                if var piece = Self.cut(&toServer, &random) {
                    isBusy = true
                    server.receive(&piece)
                }
                if var piece = Self.cut(&toClient, &random) {
                    isBusy = true
                    client.receive(&piece)
                }
            }
        }

        private mutating func serve(_ event: SMTPServerSession.Event) {
            switch event {
            case .reply(var buffer): toClient.writeBuffer(&buffer)
            case .message(let envelope):
                envelopes.append(envelope)
                received.append([])
                server.accept()
            case .content(let buffer): received[received.count - 1] += Array(buffer: buffer)
            case .endOfMessage: server.finishMessage(with: [answer])
            case .abandoned, .close: Issue.record("\(event)")
            }
        }

        private mutating func send(_ event: SMTPClientSession.Event) {
            if case .write(var buffer) = event {
                toServer.writeBuffer(&buffer)
                return
            }
            events.append(event)
            guard event == .sendContent else { return }
            var rest = ByteBuffer(bytes: content)
            while let piece = Self.cut(&rest, &random) {
                var encoded = client.send(piece)
                toServer.writeBuffer(&encoded)
            }
            var end = client.endOfContent()
            toServer.writeBuffer(&end)
        }

        /// Takes some bytes from the front.
        private static func cut(_ buffer: inout ByteBuffer, _ random: inout SeededGenerator) -> ByteBuffer? {
            guard buffer.readableBytes > 0 else { return nil }
            return buffer.readSlice(length: Int.random(in: 1...min(60, buffer.readableBytes), using: &random))
        }
    }

    @Test(
        "what goes in comes out, message after message",
        arguments: [
            Set(SMTPExtension.allCases), Set(SMTPExtension.allCases).subtracting([.chunking]),
            Set(SMTPExtension.allCases).subtracting([.pipelining]),
            [.smtpUTF8, .eightBitMIME], [.pipelining, .smtpUTF8, .eightBitMIME, .deliveryStatusNotification],
        ]
    )
    func messages(extensions: Set<SMTPExtension>) {
        for seed in 0..<20 {
            var wire = Wire(extensions: extensions, seed: seed)
            wire.run()
            #expect(wire.client.announced == extensions)
            for number in 0..<5 {
                wire.content = Self.content(&wire.random)
                var envelope = SMTPEnvelope.full
                if number == 1 { envelope.recipients.append(.init("ö@y.test")) }
                wire.client.begin(
                    SMTPTransaction(envelope, content: .init(size: wire.content.count, isEightBit: number == 2))
                )
                wire.run()
                #expect(
                    wire.events.suffix(3) == [.sendContent, .accepted(Self.reply(wire.answer, extensions)), .ready]
                )
                #expect(wire.received.last == Self.withLineEnd(wire.content, extensions))
                #expect(wire.envelopes.last?.recipients.map(\.address) == envelope.recipients.map(\.address))
                let keepsParameters = extensions.contains(.deliveryStatusNotification)
                #expect(wire.envelopes.last?.recipients.first?.parameters.count == (keepsParameters ? 2 : 0))
                #expect(wire.envelopes.last?.xforward == (extensions.contains(.xforward) ? envelope.xforward : [:]))
            }
        }
    }

    @Test("a refusal is passed on with its code and text, and the next message goes through")
    func refusal() {
        let extensions = Set(SMTPExtension.allCases)
        var wire = Wire(extensions: extensions, seed: 1)
        wire.run()
        wire.content = Array("x\r\n".utf8)
        wire.answer = SMTPReply(550, "5.7.1", text: "not\nwanted \u{1}")
        let transaction = SMTPTransaction(.plain, content: .init(size: 3, isEightBit: false))
        wire.client.begin(transaction)
        wire.run()
        #expect(
            wire.events.suffix(2) == [
                .refused([SMTPRefusal(.content, SMTPReply(550, "5.7.1", text: "not\nwanted \\x{1}"))]), .ready,
            ]
        )
        wire.client.begin(SMTPTransaction(.plain, content: transaction.content, isProbe: true))
        wire.run()
        #expect(wire.events.suffix(2) == [.probed, .ready])
        wire.answer = SMTPReply(250, "2.0.0", text: "queued")
        wire.client.begin(transaction)
        wire.run()
        #expect(wire.events.suffix(2) == [.accepted(wire.answer), .ready])
    }

    /// Lines with many dots and carriage returns that SMTP allows.
    private static func content(_ random: inout SeededGenerator) -> [UInt8] {
        let words = [".", "..", "a", "\r\n", "\r\n", "\r\n.", " \r ", "text of a line", "\r\r\n", "ä"]
        let text = (0..<Int.random(in: 0...80, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
            .joined()
        // This ensures that the content does not end in a dot after a bare carriage return, which the server refuses.
        return Array(text.utf8) + Array(".x\r\n".utf8.prefix(Int.random(in: 2...4, using: &random)))
    }

    private static func withLineEnd(_ content: [UInt8], _ extensions: Set<SMTPExtension>) -> [UInt8] {
        extensions.contains(.chunking) || content.suffix(2) == [13, 10] ? content : content + [13, 10]
    }

    private static func reply(_ reply: SMTPReply, _ extensions: Set<SMTPExtension>) -> SMTPReply {
        extensions.contains(.enhancedStatusCodes) ? reply : SMTPReply(reply.code, nil, text: reply.text)
    }
}
