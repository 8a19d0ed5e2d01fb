import ArgumentParser
import PKIX
import SMIMEAgent
import SMIMEGateway
package import SMIMEServer
import SMIMEStore

extension SMIMECommand {
    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            _superCommandName: SMIMECommand.name,
            abstract: "Apply the policy to mail, as a resident service.",
            discussion: """
                Listens for a mail server, which sends every message through this gateway. With SMTP and LMTP a message \
                is accepted only after the next hop has accepted it, so the mail server's queue is the only queue. docs/postfix.md \
                describes the set-up.

                  smime serve --listen outgoing=lmtp:unix:/run/smime/outgoing \\
                    --next-hop outgoing=smtp:127.0.0.1:10026
                  smime serve --listen incoming=milter:unix:/run/smime/incoming \\
                    --metrics 127.0.0.1:9464

                SIGTERM ends the service after the messages in progress, SIGHUP restarts the workers. A changed \
                setting, rule or certificate applies from the next message on.
                """
        )

        @Option(
            help: ArgumentHelp(
                "The address for outgoing or incoming mail by smtp, lmtp or milter; may be repeated.",
                valueName: "role=scheme:address"
            )
        )
        var listen: [Endpoint]
        @Option(
            help: ArgumentHelp(
                "The server to which messages of a role are passed on; may be repeated.",
                valueName: "role=smtp:address"
            )
        )
        var nextHop: [Endpoint] = []
        @Option(
            help: ArgumentHelp(
                "Serve Prometheus metrics, /healthz and /readyz at this address.",
                valueName: "host:port"
            )
        )
        var metrics: SocketName?
        @Option(
            help: ArgumentHelp("The highest number of messages at a time. (default: 8 for each core)", valueName: "n")
        )
        var maxMessages: Int?
        @Option(help: ArgumentHelp("The size limit for a message. (default: 104857600)", valueName: "bytes"))
        var maxSize: Int?
        @Option(help: ArgumentHelp("How long messages in progress may take after SIGTERM.", valueName: "seconds"))
        var grace = 30
        @Option(help: ArgumentHelp("Accept connections from this network, too; may be repeated.", valueName: "net"))
        var allow: [NetworkRange] = []
        @Option(help: "Where the log goes: stderr, syslog, or journal.")
        var log = LogDestination.stderr
        @Option(
            help: ArgumentHelp(
                "This host's name in Authentication-Results fields. (default: the setting filter.authserv-id)",
                valueName: "name"
            )
        )
        var authservId: HostName?
        @Flag(name: .customLong("no-system-anchors"), help: .noSystemAnchors) var noSystemAnchors = false
        @Option(help: .revocation) var revocation: RevocationPolicy?
        @Option(help: .passwordFile, completion: .file()) var passwordFile: String?
        @OptionGroup var harvest: HarvestOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            let roles = nextHop.map(\.role)
            if Set(roles).count < roles.count { throw ValidationError("--next-hop: at most one for each role") }
            do throws(ServerError) { try settings.check() } catch { throw ValidationError(error.description) }
        }

        private var settings: ServerSettings {
            var settings = ServerSettings()
            settings.listeners = listen
            for hop in nextHop { settings.nextHops[hop.role] = hop }
            settings.metrics = metrics
            settings.maximumMessages = maxMessages ?? settings.maximumMessages
            settings.maximumSize = maxSize ?? settings.maximumSize
            settings.grace = grace
            settings.allowed = allow
            settings.hostName = authservId?.full ?? HostName().full
            return settings
        }

        func run() async throws {
            if let worker = ServerWorker.current {
                return try await MessageWorker.run(worker) { () throws(WorkerFailure) in try await tools() }
            }
            let words = WorkerArguments(Invocation.current.words, global)
            var settings = settings
            settings.workerArguments = { words.all }
            do throws(ServerError) {
                try await GatewayServer.run(settings, log: log)
            } catch {
                throw Failure(error)
            }
        }

        /// The store, the settings and the other objects that a worker needs.
        private func tools() async throws(WorkerFailure) -> MessageWorker.Tools {
            let origin = PassphraseOrigin("password", file: passwordFile, descriptor: nil, variable: nil)
            let store: Store
            do {
                store = try await global.store(.readOnly, password: origin, asks: false)
            } catch let error as KeystoreError {
                throw WorkerFailure(error, hints: Failure(error).hints)
            } catch {
                throw WorkerFailure(Failure(error).message, isLasting: false)
            }
            guard store.exists else {
                throw WorkerFailure(
                    "\(store.location.path): there is no store",
                    isLasting: true,
                    hints: [Failure.bringBack]
                )
            }
            var options = GatewayEngine.Options()
            options.systemAnchors = !noSystemAnchors
            options.validation = ValidationOptions(revocation: revocation ?? .soft)
            options.host = authservId.map { MailHost(name: $0) }
            options.hints = { Failure($0).hints }
            options.onChange = harvest.onChange
            let engine = GatewayEngine(store, options)
            return MessageWorker.Tools(store, [.outgoing: engine, .incoming: engine], learns: !harvest.isOff)
        }
    }
}

extension Failure {
    init(_ error: ServerError) {
        switch error {
        case .settings: self.init(.usage, error.description)
        case .cannotListen, .cannotListenForMetrics: self.init(.cannotCreate, error.description)
        case .storeUnusable(let failure): self.init(.configuration, error.description, hints: failure.hints)
        case .system: self.init(.tryAgain, error.description)
        }
    }
}

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension SocketName: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension NetworkRange: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension LogDestination: ExpressibleByArgument {}
