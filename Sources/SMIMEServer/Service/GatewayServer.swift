import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// The gateway service: listens for mail servers, lets worker processes handle their messages, and passes the results on.
///
/// SIGTERM and SIGINT end the service after the messages in flight. On SIGHUP new workers open the store again.
package struct GatewayServer: Service {
    private let settings: ServerSettings
    private let logger: Logger
    private let logsFields: Bool
    /// Writes to standard error in addition to the log; nil if standard error is the log.
    private let console: Logger?

    /// - Parameters:
    ///   - settings: the settings of the service.
    ///   - log: the destination of the log.
    package init(_ settings: ServerSettings, log: LogDestination) {
        self.settings = settings
        logsFields = log == .journal
        let hasPriorities = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil
        logger = Logger(label: "smime") { _ in ServiceLogHandler(log, hasPriorities: hasPriorities) }
        console =
            log == .stderr
            ? nil : Logger(label: "smime") { _ in ServiceLogHandler(.stderr, hasPriorities: hasPriorities) }
    }

    /// Runs until SIGTERM or SIGINT, or until the system closes a listener.
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
                // The messages of the lifecycle library are not logged.
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

    /// Runs the service until it is stopped. The service group calls this.
    ///
    /// - Throws: `ServerError`; `StreamError` if the temporary files cannot be created.
    package func run() async throws {
        DescriptorLimit.raise()
        let (settings, logger, console, logsFields) = (settings, logger, console, logsFields)
        let manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
        ServiceManager.clearEnvironment()
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let runtime = try await loop.submit {
            let runtime = try GatewayRuntime(settings, on: loop, manager, logger: logger, logsFields: logsFields)
            runtime.console = console
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

/// The number of files that the service may have open at the same time (getrlimit(2)).
enum DescriptorLimit {
    /// The number of descriptors for everything except connections of mail servers and spools: listeners, sockets of workers,
    /// connections to the next hop, connections to the operations endpoint.
    private static let reserve = 264
    /// The maximum number of connections. Mail servers open fewer.
    private static let maximum = 10_000

    /// Raises the soft limit of this process to four times `maximum`, or to the hard limit if that is lower. A higher limit
    /// is kept.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(4 * maximum)))
        _ = setrlimit(kind, &limit)
    }

    /// The number of connections of mail servers that are possible beside `messages` in flight. Each message needs two spools
    /// and a connection to the next hop.
    static func connections(beside messages: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return 256 }
        let count = Int(clamping: limit.rlim_cur)
        return max(8, min(maximum, count - 3 * messages - reserve))
    }

    #if os(Linux)
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let kind = RLIMIT_NOFILE
    #endif
}
