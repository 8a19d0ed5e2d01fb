import NIOCore

extension MilterSession {
    /// Handles a command.
    mutating func take(_ command: MilterCommand, into events: inout [Event]) throws(MilterViolation) {
        try checkOrder(of: command)
        try count(command)
        switch command {
        case .negotiate(let offer): events.append(try negotiate(offer))
        case .macros(let code, let list): keep(list, for: code)
        case .connect(let client):
            self.client = client
            reply(unless: .noReplyToConnect, into: &events)
        case .helo: reply(unless: .noReplyToHelo, into: &events)
        case .unknown: reply(unless: .noReplyToUnknown, into: &events)
        case .mail(let sender):
            // A second MAIL without an abort abandons the first message, as in libmilter.
            if phase != .idle { events += forgetMessage(keepingMacros: true) }
            let sender = read(sender, by: "mail_addr", of: MilterCommand.Code.mail)
            message = try MilterMessage(from: sender, client: client, limits: limits)
            phase = .envelope
            reply(unless: .noReplyToMail, into: &events)
        case .recipient(let recipient):
            // Mail servers may also send refused recipients, which are ignored here.
            let recipient = read(recipient, by: "rcpt_addr", of: MilterCommand.Code.recipient)
            if !isRefusedRecipient { try message?.add(recipient) }
            macros[MilterCommand.Code.recipient]?.removeAll { ["rcpt_addr", "rcpt_mailer"].contains($0.name) }
            reply(unless: .noReplyToRecipients, into: &events)
        case .data:
            begin(into: &events)
            reply(unless: .noReplyToData, into: &events)
        case .header(let field):
            begin(into: &events)
            let isExact = options.steps.contains(.leadingSpace)
            if let bytes = message?.add(field, leadingSpace: isExact) { events.append(.content(bytes)) }
            reply(unless: .noReplyToHeaders, into: &events)
        case .endOfHeader:
            endHeader(into: &events)
            reply(unless: .noReplyToEndOfHeader, into: &events)
        case .body(let piece):
            take(piece, into: &events)
            reply(unless: .noReplyToBody, into: &events)
        case .endOfMessage(let piece):
            take(piece, into: &events)
            phase = .verdict
            if let envelope = message?.envelope(with: macros) { events.append(.endOfMessage(envelope)) }
        case .abort: events += forgetMessage()
        case .quit: events += end(nil)
        case .quitForNext:
            events += forgetMessage()
            macros = [:]
            client = nil
        }
    }

    /// - Throws: `.unexpectedCommand` if the command is not allowed in the current phase.
    private func checkOrder(of command: MilterCommand) throws(MilterViolation) {
        let isInOrder =
            switch (command, phase) {
            case (.negotiate, .negotiation), (.quit, _): true
            case (_, .negotiation), (.negotiate, _): false
            case (.abort, _), (.quitForNext, _): true
            // The mail server must wait for the milter's reply.
            case (_, .verdict), (_, .newBody): false
            case (.connect, .idle): true
            case (.connect, _): false
            case (.macros, _), (.mail, _): true
            case (.helo, .idle), (.helo, .envelope), (.unknown, .idle), (.unknown, .envelope): true
            case (.helo, _), (.unknown, _): false
            case (.recipient, .envelope), (.data, .envelope): !(message?.isBegun ?? true)
            case (.recipient, _), (.data, _): false
            case (.header, .envelope), (.header, .header), (.endOfHeader, .envelope), (.endOfHeader, .header): true
            case (.header, _), (.endOfHeader, _): false
            case (.body, let phase), (.endOfMessage, let phase): phase != .idle
            }
        guard isInOrder else { throw .unexpectedCommand(command.code) }
    }

    /// Counts commands that transfer no part of a message (`MilterLimits.idleCommands`).
    ///
    /// - Throws: `.tooManyCommands`
    private mutating func count(_ command: MilterCommand) throws(MilterViolation) {
        switch command {
        case .recipient, .data, .header, .endOfHeader, .body: idleCommands = max(0, idleCommands - 1)
        case .endOfMessage: idleCommands = 0
        default:
            idleCommands += 1
            guard idleCommands <= limits.idleCommands else { throw .tooManyCommands }
        }
    }

    /// Accepts the options that are both wanted and offered.
    private mutating func negotiate(_ offer: MilterOptions) throws(MilterViolation) -> Event {
        guard offer.version >= 2 else { throw .unsupportedVersion(offer.version) }
        let actions: MilterActions = [
            .addHeaders, .changeHeaders, .changeBody, .deleteRecipients, .changeSender, .chooseMacros,
        ]
        let steps: MilterSteps = [.noHelo, .noUnknown, .noData, .leadingSpace]
        options = MilterOptions(
            version: min(offer.version, 6),
            actions: offer.actions.intersection(actions),
            steps: offer.steps.intersection(steps.union(.noReplies))
        )
        if options.actions.contains(.chooseMacros) {
            options.macros = [
                .connect: "j {client_addr} {client_name} {daemon_name}",
                .mail: "i {auth_authen} {mail_addr}",
                .recipient: "i {rcpt_addr} {rcpt_mailer}",
                .data: "i",
                .endOfHeader: "i",
                .endOfMessage: "i",
            ]
        }
        phase = .idle
        return .write(MilterReply.negotiated(options).bytes)
    }

    private mutating func keep(_ list: [MilterMacro], for command: UInt8) {
        guard "CHMRTNLBE".utf8.contains(command) else { return }
        macros[command] = list
    }

    /// `address` with the form in which the mail server reads it: the value of `macro`.
    private func read(_ address: MilterAddress, by macro: String, of command: UInt8) -> MilterAddress {
        var address = address
        address.addressFromMacro = macros[command]?.last { $0.name == macro }?.value
        return address
    }

    private var isRefusedRecipient: Bool {
        let macros = macros[MilterCommand.Code.recipient] ?? []
        return macros.contains(MilterMacro(name: "rcpt_mailer", value: "error"))
    }

    private func reply(unless step: MilterSteps, into events: inout [Event]) {
        if !options.steps.contains(step) { events.append(.write(MilterReply.continue.bytes)) }
    }

    private mutating func begin(into events: inout [Event]) {
        guard phase == .envelope else { return }
        phase = .header
        if let envelope = message?.envelope(with: macros) { events.append(.begin(envelope)) }
    }

    private mutating func endHeader(into events: inout [Event]) {
        begin(into: &events)
        guard phase == .header else { return }
        phase = .body
        if let bytes = message?.endHeader() { events.append(.content(bytes)) }
    }

    private mutating func take(_ piece: ByteBuffer, into events: inout [Event]) {
        endHeader(into: &events)
        if piece.readableBytes > 0 { events.append(.content(piece)) }
    }
}

extension MilterReply {
    /// The encoded reply.
    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        packet.write(to: &bytes)
        return bytes
    }
}
