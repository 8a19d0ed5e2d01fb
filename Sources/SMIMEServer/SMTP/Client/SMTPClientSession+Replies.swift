import NIOCore

extension SMTPClientSession {
    /// The maximum number of commands without a reply, if the next hop announces PIPELINING.
    private static let pipelineDepth = 100

    /// Handles a reply.
    mutating func take(_ reply: SMTPReply) {
        switch state {
        case .greeting:
            guard reply.code == 220 else { return fail("greeting: \(reply)") }
            state = .hello(isExtended: true)
            write("EHLO \(hostName)\r\n")
        case .hello(let isExtended): takeHello(reply, isExtended: isExtended)
        case .ready: fail("\(reply)")
        case .envelope: takeEnvelope(reply)
        case .data:
            if reply.code == 354 {
                state = .content
                events.append(.sendContent)
            } else {
                refuse(.content, reply, then: .reset)
            }
        case .content:
            // The next hop still waits for the rest of the content, so the connection cannot be used any more.
            refuse(.content, reply, then: .closed)
        case .outcome:
            if reply.isSuccess {
                progress = nil
                events.append(.accepted(reply))
                becomeReady()
            } else {
                refuse(.content, reply, then: .ready)
            }
        case .reset:
            guard reply.isSuccess else { return fail("RSET: \(reply)") }
            becomeReady()
        case .quit: fail("closed")
        case .closed: break
        }
    }

    mutating func becomeReady() {
        state = .ready
        events.append(.ready)
    }

    mutating func write(_ text: String) { events.append(.write(ByteBuffer(string: text))) }

    /// Reports a refusal after MAIL and RCPT, and continues with `next`. A reply that is no refusal is a violation.
    mutating func refuse(_ subject: SMTPRefusal.Subject, _ reply: SMTPReply, then next: State) {
        guard reply.isTemporary || reply.isPermanent else { return fail("unexpected: \(reply)") }
        progress = nil
        state = .reset
        events.append(.refused([SMTPRefusal(subject, reply)]))
        if reply.code == 421 { return fail("\(reply)") }
        switch next {
        case .ready: becomeReady()
        case .reset: write("RSET\r\n")
        default: fail("\(reply)")
        }
    }

    private mutating func takeHello(_ reply: SMTPReply, isExtended: Bool) {
        if isExtended, reply.isPermanent {
            state = .hello(isExtended: false)
            return write("HELO \(hostName)\r\n")
        }
        guard reply.isSuccess else { return fail("\(isExtended ? "EHLO" : "HELO"): \(reply)") }
        if isExtended {
            for line in reply.text.split(separator: "\n").dropFirst() { noteExtension(line) }
        }
        becomeReady()
    }

    private mutating func noteExtension(_ line: Substring) {
        let words = line.uppercased().split(separator: " ")
        guard let word = words.first, let offer = SMTPExtension(rawValue: String(word)) else { return }
        announced.insert(offer)
        switch offer {
        case .size: maximumSize = words.dropFirst().first.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        case .xforward: xforwardAttributes = Set(words.compactMap { XFORWARDAttribute(rawValue: String($0)) })
        default: break
        }
    }

    /// Sends the next commands of the envelope, up to the limit for pipelining.
    mutating func sendCommands() {
        guard var progress, !progress.isSenderRefused else { return }
        let depth = announced.contains(.pipelining) ? Self.pipelineDepth : 1
        guard progress.sent - progress.answered <= depth / 2 else { return }
        var buffer = ByteBuffer()
        while progress.sent < progress.count, progress.sent - progress.answered < depth {
            buffer.writeString(progress.command(progress.sent))
            progress.sent += 1
        }
        self.progress = progress
        if buffer.readableBytes > 0 { events.append(.write(buffer)) }
    }

    private mutating func takeEnvelope(_ reply: SMTPReply) {
        guard let progress, progress.answered < progress.sent, reply.code != 421, reply.code / 100 != 3 else {
            // The next hop may end the connection because it has refused so many recipients. The next attempt would end in
            // the same way, so the refusals count.
            if let refusals = self.progress?.refusals, refusals.contains(where: \.reply.isPermanent) {
                self.progress = nil
                state = .reset
                events.append(.refused(refusals))
            }
            return fail("unexpected: \(reply)")
        }
        let mail = progress.commands.count - 1
        let index = progress.answered
        self.progress?.answered += 1
        // A refused XFORWARD affects logs, not the mail.
        if index == mail, !reply.isSuccess {
            self.progress?.isSenderRefused = true
            self.progress?.note(SMTPRefusal(.sender, reply))
        } else if index > mail, !reply.isSuccess, !progress.isSenderRefused {
            self.progress?.note(SMTPRefusal(.recipient(index - mail - 1), reply))
        }
        sendCommands()
        endEnvelope()
    }

    /// Continues after all commands were answered.
    private mutating func endEnvelope() {
        guard let progress, progress.answered == progress.sent,
            progress.sent == progress.count || progress.isSenderRefused
        else { return }
        if !progress.refusals.isEmpty || progress.transaction.isProbe {
            events.append(progress.refusals.isEmpty ? .probed : .refused(progress.refusals))
            self.progress = nil
            state = .reset
            write("RSET\r\n")
        } else if announced.contains(.chunking) {
            let size = progress.transaction.content.size
            self.progress?.framing = .counted(SMTPContentDecoder(framing: .counted))
            state = size > 0 ? .content : .outcome
            write("BDAT \(size) LAST\r\n")
            events.append(.sendContent)
        } else {
            state = .data
            write("DATA\r\n")
        }
    }
}
