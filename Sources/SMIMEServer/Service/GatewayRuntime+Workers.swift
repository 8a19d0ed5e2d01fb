import Logging
import NIOCore
import SMIMEGateway

/// The runtime's reactions to changes of its workers.
extension GatewayRuntime {
    func watchWorkers() {
        var (lastTrouble, lastKeyTrouble): (String?, String?)
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
            let trouble = core.pool.trouble
            if trouble == nil { countExpiring() }
            // Every worker reports the same trouble, so it is logged only once. Trouble that ends the start is not logged
            // here, because the start reports it as an error.
            if let trouble, trouble.reason != lastTrouble, opening == nil || !trouble.isLasting {
                logger.error("the store cannot be used: \(trouble.reason)")
            }
            if trouble == nil, lastTrouble != nil { logger.notice("the store can be used again") }
            lastTrouble = trouble?.reason
            let keyTrouble = core.pool.keyTrouble
            if let keyTrouble, keyTrouble != lastKeyTrouble {
                logger.error("no private key can be used, and mail that needs one waits: \(keyTrouble)")
            }
            lastKeyTrouble = keyTrouble
            guard let opened = opening else { return }
            opening = nil
            // A store that cannot be reached for now does not end the start. Until it can be reached, mail gets 451.
            if let trouble, trouble.isLasting {
                opened.fail(ServerError.storeUnusable(trouble))
            } else {
                opened.succeed()
            }
        }
    }
}
