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
            return OperationsEndpoint.bind(metrics, on: loop, allowed: settings.allowed, answers).assumeIsolated().map {
                [self] in
                operations = $0
            }
            .flatMapErrorThrowing { throw ServerError.cannotListenForMetrics(metrics, reason: NextHop.reason(of: $0)) }
            .nonisolated()
        }
    }

    /// Ends the service if `listener` closes unexpectedly, so that the service manager can restart it. Otherwise it would
    /// keep running without accepting mail.
    private func watch(_ listener: any Channel, _ endpoint: Endpoint) {
        listener.closeFuture.assumeIsolated().whenComplete { [self] _ in
            guard !core.isStopping else { return }
            logger.critical("\(endpoint): the system has closed the listener")
            stop()
        }
    }
}
