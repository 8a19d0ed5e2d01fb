import Logging
import NIOCore
import SMIMEGateway

/// The listeners of the service.
extension GatewayRuntime {
    func bindAll() -> EventLoopFuture<Void>.Isolated {
        let listener = MailListener(core: core, settings: settings, passed: manager.passedSockets)
        var bound = loop.makeSucceededVoidFuture().assumeIsolated()
        for endpoint in settings.listeners {
            bound = bound.flatMap { [self] in
                listener.bind(endpoint, to: nextHops[endpoint.role]).assumeIsolated().map { [self] in
                    listeners.append($0)
                    watch($0, endpoint)
                }.flatMapErrorThrowing { throw ServerError.cannotListen(endpoint, reason: NextHop.reason(of: $0)) }
                    .nonisolated()
            }
        }
        guard let metrics = settings.metrics else { return bound }
        return bound.flatMap { [self] in
            let answers = OperationsEndpoint.Answers(
                metrics: { [self] in metricsText },
                whyNotReady: { [self] in whyNotReady }
            )
            return OperationsEndpoint.bind(
                metrics,
                on: loop,
                passed: manager.passedSockets,
                allowed: settings.allowed,
                answers
            )
            .assumeIsolated().map { [self] in operations = $0 }
            .flatMapErrorThrowing { throw ServerError.cannotListenForMetrics(metrics, reason: NextHop.reason(of: $0)) }
            .nonisolated()
        }
    }

    /// Ends the service if `listener` closes unexpectedly, so that the service manager can restart the service.
    /// Otherwise the service would keep running without accepting mail.
    private func watch(_ listener: any Channel, _ endpoint: Endpoint) {
        listener.closeFuture.assumeIsolated().whenComplete { [self] _ in
            guard !core.isStopping else { return }
            logger.critical("\(endpoint): the system has closed the listener")
            stop()
        }
    }
}

/// The runtime's reactions to changes of its workers.
extension GatewayRuntime {
    func watchWorkers() {
        var (lastFailure, lastKeyFailure): (String?, String?)
        var wasJournalFailing = false
        core.pool.warn = { [logger] in logger.warning("\($0)") }
        core.pool.onSettled = { [logger] log in
            var line = LogLine()
            line.add(log.fields, details: log.details)
            let text = line.text
            if !text.isEmpty { logger.info("\(text)") }
            for warning in log.warnings { logger.warning("\(warning)") }
        }
        core.pool.onRenewed = { [logger] in logger.notice("the workers are replaced") }
        core.pool.onExpiring = { [core] in core.metrics.expiringCertificates = $0 }
        core.pool.onChange = { [self] in
            let failure = core.pool.failure
            if failure == nil { countExpiring() }
            // Every worker reports the same failure, so it is logged only once. A failure that ends the start is not logged
            // here, because the start reports it as an error.
            if let failure, failure.reason != lastFailure, opening == nil || !failure.isLasting {
                logger.error("the store cannot be used: \(failure.reason)")
            }
            if failure == nil, lastFailure != nil { logger.notice("the store can be used again") }
            lastFailure = failure?.reason
            let keyFailure = core.pool.keyFailure
            if let keyFailure, keyFailure != lastKeyFailure {
                logger.error("no private key can be used, and mail that needs one waits: \(keyFailure)")
            }
            // While the store cannot be used, nothing is known about the keys.
            if failure == nil {
                if keyFailure == nil, lastKeyFailure != nil { logger.notice("private keys can be used again") }
                lastKeyFailure = keyFailure
            }
            if core.pool.isJournalFailing != wasJournalFailing {
                wasJournalFailing.toggle()
                let (can, level): (String, Logger.Level) = wasJournalFailing ? ("cannot", .error) : ("can", .notice)
                logger.log(level: level, "deliveries \(can) be recorded in the store")
            }
            guard let opened = opening else { return }
            opening = nil
            // A store that cannot be reached for now does not end the start. Until it can be reached, mail gets 451.
            if let failure, failure.isLasting {
                opened.fail(ServerError.storeUnusable(failure))
            } else {
                opened.succeed()
            }
        }
    }
}
