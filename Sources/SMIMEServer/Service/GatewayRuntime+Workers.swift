import Logging
import NIOCore
import SMIMEGateway

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
            lastKeyFailure = keyFailure
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
