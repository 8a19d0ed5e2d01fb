import ByteStreams
import InternetMessage
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

extension FilterOptions {
    /// Handles the mail on standard input, and writes the log line, whether the mail succeeds or fails.
    ///
    /// If a signal ended an earlier worker that handled this mail, the engine rescues the mail.
    ///
    /// - Parameters:
    ///   - emptyName: the beginning of the error for an empty input.
    ///   - preview: decides what would be done, for `--dry-run`.
    ///   - show: prints the result of `preview`.
    func run<Preview>(
        _ role: GatewayRole,
        _ engineOptions: GatewayEngine.Options,
        emptyName: String = "message: malformed",
        learns: Bool = false,
        preview: (GatewayEngine, GatewayMail) async -> GatewayResult<Preview>,
        show: (Preview) throws -> Void
    ) async throws {
        var line = FilterLog()
        if let log { line.target = log }
        line.add("direction", value: role.rawValue)
        line.add("queue_id", value: queueId)
        line.add("sender", value: sender == .null ? "<>" : sender.text)
        line.add(recipients: recipients)
        do {
            if let refusal = GatewayMail.envelopeRefusal(from: sender, to: recipients) { throw refusal }
            let source = try InputFile.standardInput()
            guard source.count > 0 else { throw GatewayRefusal.emptyMessage(emptyName) }
            line.add("message_id", value: UnparsedMessage.messageID(of: source))
            trap()
            let store = try await store(&line)
            let (engine, mail) = (GatewayEngine(store, engineOptions), try mail(role, source))
            if let signal = FilterWorker.rescuedFrom {
                try await deliver(
                    engine.rescue(mail, signal: signal),
                    of: mail,
                    by: engine,
                    store,
                    learns: false,
                    line: &line
                )
            } else if dryRun {
                try line.take(await preview(engine, mail)).map(show)
            } else {
                try await deliver(engine.handle(mail), of: mail, by: engine, store, learns: learns, line: &line)
            }
            line.warnings.all.forEach(Console.warning)
            line.write(status: dryRun ? "dry-run" : "sent")
        } catch {
            let refusal = await refusal(for: error, in: role)
            let status = FilterStatus.report(refusal)
            // If the mail returns, warnings go only to the log, except at a terminal: the bounce must not reveal files
            // and settings of this host.
            if !refusal.isPermanent || FilterStatus.isAtTerminal { line.warnings.all.forEach(Console.warning) }
            line.write(status: refusal.isPermanent ? "bounced" : "deferred", refusal.logText)
            try? printFailure(status, refusal, because: error)
            throw FilterStatus.End(status: status)
        }
    }

    /// Delivers the engine's messages, stores the answers of services, and learns.
    private func deliver(
        _ result: GatewayResult<ProcessedMail>,
        of mail: GatewayMail,
        by engine: GatewayEngine,
        _ store: Store,
        learns: Bool,
        line: inout FilterLog
    ) async throws {
        guard let processed = try line.take(result) else { return }
        trap(at: "sending")
        let warnings = line.warnings
        let entry = engine.recordedEntry(of: mail) { warnings.add($0) }
        try await deliver(processed.delivery, store, entry: entry, log: &line)
        trap(at: "sent")
        await engine.keepAnswers(of: processed).forEach(line.warnings.add)
        guard learns, let message = processed.learnable else { return }
        let (record, warning) = await engine.learn(from: message)
        line.add(record)
        if let warning { line.warnings.add(warning) }
    }

    /// Prints the reason for a failed dry run as JSON, if the command line asks for JSON.
    private func printFailure(_ status: ExitStatus, _ refusal: GatewayRefusal, because error: any Error) throws {
        guard Invocation.current.reportsFailures, !Report.isBegun else { return }
        var failure = Failure(status, refusal.logText, hints: refusal.hints)
        failure.cause = error is GatewayRefusal ? nil : error
        try Report.print(FailureReport(failure))
    }

    /// Lets a test end this process here. A second worker, which rescues the mail, is not ended.
    private func trap(at place: String = "message") {
        #if DEBUG
        if FilterWorker.rescuedFrom == nil { TestTrap.crashIfRequested(at: place) }
        #endif
    }

    private func refusal(for error: any Error, in role: GatewayRole) async -> GatewayRefusal {
        if let failure = error as? Failure { return GatewayRefusal(failure) }
        var refusal = GatewayRefusal(error, in: role)
        if let cause = refusal.cause, refusal.hints.isEmpty { refusal.hints = Failure(cause).hints }
        if refusal.isPermanent, refusal.bounceText == nil { refusal.bounceText = await bounceText() }
        return refusal
    }
}

extension FilterLog {
    /// Adds the engine's log record of a mail to the line.
    ///
    /// - Returns: the result; nil if every recipient already has the mail.
    /// - Throws: `GatewayRefusal`
    fileprivate mutating func take<Value>(_ result: GatewayResult<Value>) throws -> Value? {
        add(result.record)
        result.warnings.forEach(warnings.add)
        switch result.outcome {
        case .finished(let value): return value
        case .refused(let refusal): throw refusal
        case .sentBefore: return nil
        }
    }
}
