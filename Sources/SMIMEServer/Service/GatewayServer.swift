import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// The resident gateway: listens for mail servers, lets worker processes handle their messages, and passes the results on.
///
/// SIGTERM and SIGINT end it after the messages in flight, SIGHUP lets the workers open the store anew.
package struct GatewayServer: Service {
    private let settings: ServerSettings
    private let logger: Logger
    private let logsFields: Bool

    /// - Parameters:
    ///   - settings: how it runs.
    ///   - log: where its log goes.
    package init(_ settings: ServerSettings, log: LogDestination) {
        self.settings = settings
        logsFields = log == .journal
        let hasPriorities = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil
        logger = Logger(label: "smime") { _ in ServiceLogHandler(log, hasPriorities: hasPriorities) }
    }

    /// Runs until a signal ends it.
    ///
    /// - Throws: `ServerError`
    package static func run(_ settings: ServerSettings, log: LogDestination) async throws(ServerError) {
        try settings.check()
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: GatewayServer(settings, log: log),
                        successTerminationBehavior: .gracefullyShutdownGroup
                    )
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                // The lifecycle's own messages do not belong in the log of a mail server.
                logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        do {
            try await group.run()
        } catch let error as ServerError {
            throw error
        } catch {
            throw .system(reason: "\(error)")
        }
    }

    package func run() async throws {
        DescriptorLimit.raise()
        let (settings, logger, logsFields) = (settings, logger, logsFields)
        let manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
        ServiceManager.clearEnvironment()
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let runtime = try await loop.submit {
            let runtime = try GatewayRuntime(settings, on: loop, manager, logger: logger, logsFields: logsFields)
            return NIOLoopBound(runtime, eventLoop: loop)
        }.get()
        try await withGracefulShutdownHandler {
            let reloads = Task {
                for await _ in await UnixSignalsSequence(trapping: .sighup) { loop.execute { runtime.value.reload() } }
            }
            defer { reloads.cancel() }
            try await loop.flatSubmit { runtime.value.start() }.get()
            try await loop.flatSubmit { runtime.value.whenEnded }.get()
        } onGracefulShutdown: {
            loop.execute { runtime.value.stop() }
        }
    }
}
