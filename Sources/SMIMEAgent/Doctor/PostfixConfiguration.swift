import ByteStreams
import Foundation

/// The services in Postfix's master.cf, and the parameters of main.cf that concern `smime filter` and `smime serve`.
///
/// Source: master(5), pipe(8), postconf(1)
package struct PostfixConfiguration: Sendable {
    /// The direction of the mail that a filter processes.
    enum Direction: String, Sendable {
        case incoming, outgoing
    }

    /// One service: its name and type, the program, and its arguments.
    struct Service: Sendable {
        let name: String
        let type: String
        let isChrooted: Bool
        let program: String
        let words: [String]

        /// Parses a line of `postconf -M`; nil if `line` is not such a line.
        init?(_ line: String) {
            let fields = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard fields.count >= 8 else { return nil }
            (name, type, isChrooted) = (fields[0], fields[1], fields[4] == "y")
            (program, words) = (fields[7], Array(fields[8...]))
        }

        /// The words of the command that runs `smime filter`; nil if the service runs something else.
        var filter: [String]? {
            guard program == "pipe", let start = words.firstIndex(where: { $0.hasPrefix("argv=") }) else { return nil }
            let command = Array(words[start...])
            return command.count > 2 && command[0].hasSuffix("smime") && command[1] == "filter" ? command : nil
        }

        /// The value of the filter's option `name`: the next argument, or the text after `name=`.
        func option(_ name: String) -> String? {
            let arguments = filterArguments
            guard let place = arguments.firstIndex(where: { $0 == name || $0.hasPrefix("\(name)=") }) else {
                return nil
            }
            let value = arguments[place].dropFirst(name.count + 1)
            guard arguments[place] == name else { return String(value) }
            return place + 1 < arguments.count ? arguments[place + 1] : nil
        }

        /// The arguments of the command that runs `smime filter`. Braces enclose an argument with blanks (pipe(8)).
        private var filterArguments: [String] {
            var arguments: [String] = []
            var words = filter ?? []
            while let word = words.first {
                let end = word.hasPrefix("{") ? words.firstIndex { $0.hasSuffix("}") } ?? 0 : 0
                let argument = words[...end].joined(separator: " ")
                arguments.append(word.hasPrefix("{") ? argument.trimmingCharacters(in: ["{", "}", " "]) : argument)
                words.removeFirst(end + 1)
            }
            return arguments
        }

        /// The attribute of pipe(8) called `name`.
        func attribute(_ name: String) -> String? {
            words.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
        }

        /// The value of a parameter that the service sets for itself, as `-o name=value` or `-o { name = value }`
        /// (master(5)); nil if the service does not set it. Of several values the last one counts. `postconf -x` has replaced
        /// the references to parameters that have a value; the remaining references are removed.
        func override(_ name: String) -> String? {
            var value: String?
            for start in words.indices.dropLast() where words[start] == "-o" {
                let rest = words[(start + 1)...]
                let end = words[start + 1].hasPrefix("{") ? rest.firstIndex { $0.hasSuffix("}") } : nil
                let text = rest[...(end ?? start + 1)].joined(separator: " ").trimmingCharacters(in: ["{", "}", " "])
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else { continue }
                value = parts[1].replacing(/\$\{?\w+\}?/, with: "").trimmingCharacters(in: .whitespaces)
            }
            return value
        }

        /// The direction of the service's filter; nil if the service has no filter, or its filter has no direction.
        var direction: Direction? { filter?.dropFirst(2).lazy.compactMap(Direction.init(rawValue:)).first }
    }

    /// The content_filter in effect for `service`, as transport and next hop; nil if there is none.
    func contentFilter(of service: Service) -> (transport: String, nextHop: String)? {
        let parts = (value("content_filter", of: service) ?? "").split(
            separator: ":",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    /// The services that accept mail from the network, including those behind postscreen(8).
    var ports: [Service] { services.filter { ["inet", "pass"].contains($0.type) && $0.program == "smtpd" } }

    /// The value of `name` in effect for `service`.
    func value(_ name: String, of service: Service) -> String? { service.override(name) ?? parameters[name] }

    let services: [Service]
    /// The listeners of `smime serve`, as far as they are known.
    let listeners: [ServeListener]
    /// Where `smime serve` sends its results, as far as this is known.
    let nextHops: [ServeListener]
    /// Parameters of main.cf, by name.
    let parameters: [String: String]
    /// Why Postfix's configuration could not be read; nil if it was read.
    private(set) var failure: String?
    /// The remedy for `failure`.
    private(set) var remedy = DoctorRemedy.findPostfix

    /// The value of `name` in effect for `port`, or in main.cf if `port` is nil. Postfix's default counts as set in
    /// main.cf. Nil if the value is not a number, or Postfix does not know the parameter.
    func number(_ name: String, of port: Service? = nil) -> Int? {
        (port?.override(name) ?? parameters[name]).flatMap { Int($0) }
    }

    /// The value of `name` in seconds, which is also the unit of a value without one; nil if the value is not a time.
    func seconds(_ name: String) -> Int? {
        let units = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let text = parameters[name], let last = text.last else { return nil }
        guard let unit = units[String(last)] else { return Int(text) }
        return Int(text.dropLast()).map { $0 * unit }
    }

    /// The parameters that are checked, besides those of the transports.
    private static let names = [
        "content_filter", "lmtp_line_length_limit", "lmtp_send_xforward_command", "message_size_limit",
        "milter_default_action", "mynetworks", "receive_override_options", "smtpd_client_restrictions",
        "smtp_line_length_limit", "smtp_send_xforward_command", "smtpd_milters", "smtpd_recipient_limit",
        "smtpd_recipient_restrictions", "smtpd_relay_restrictions",
        "smtpd_sasl_auth_enable", "smtpd_sender_restrictions", "smtputf8_autodetect_classes", "smtputf8_enable",
    ]

    /// The parameters that say who may send mail through a port, in the order in which Postfix evaluates them.
    static let restrictions = ["smtpd_client_restrictions", "smtpd_relay_restrictions", "smtpd_recipient_restrictions"]

    /// Reads the configuration in `folder`; if `folder` is nil, in Postfix's default folder.
    ///
    /// - Parameters:
    ///   - listeners: the listeners of `smime serve`.
    ///   - nextHops: where `smime serve` sends its results.
    ///   - postconf: runs postconf(1) with arguments, and returns its output.
    package init(
        from folder: String?,
        listeners: [ServeListener] = [],
        nextHops: [ServeListener] = [],
        postconf: ([String]) throws -> String
    ) {
        (self.listeners, self.nextHops) = (listeners, nextHops)
        let place = folder.map { ["-c", $0] } ?? []
        do {
            // With -x, references to other parameters are replaced by their values.
            let lines = try postconf(place + ["-M", "-x"])
            let services = lines.split(separator: "\n").compactMap { Service(String($0)) }
            let limits = services.flatMap { service in
                // Any lmtp(8) or smtp(8) service may be the one that leads to `smime serve`.
                let names = ["\(service.name)_destination_recipient_limit"]
                guard service.filter == nil else { return names + ["\(service.name)_time_limit"] }
                return service.type == "unix" && ["lmtp", "smtp"].contains(service.program) ? names : []
            }
            let settings = try postconf(place + ["-x"] + Self.names + limits)
            let parameters = settings.split(separator: "\n").map { line in
                line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            }
            self.services = services
            self.parameters = Dictionary(
                parameters.map { ($0[0], $0.count > 1 ? $0[1] : "") },
                uniquingKeysWith: { $1 }
            )
        } catch {
            (services, parameters, failure) = ([], [:], "\(error)")
            let file = "\(folder ?? Self.defaultFolder)/main.cf"
            if !FileManager.default.fileExists(atPath: file) {
                failure = "\(file): not found, so Postfix is not set up there"
                remedy = .setUpPostfix
            }
        }
    }

    /// The default folder of most Postfix packages.
    private static let defaultFolder = "/etc/postfix"
}

/// Source: postconf(5) `content_filter`, `smtpd_milters`; MILTER_README
extension PostfixConfiguration {
    /// The service or milter through which a port passes its mail to smime.
    struct Route {
        /// The name of the service in master.cf that runs or connects to smime, or the address of a milter.
        let name: String
        let direction: Direction?
        /// The address of `smime serve` in the form that `ServeListener.address(_:)` returns; nil for `smime filter`.
        let address: String?
        let isMilter: Bool
    }

    /// How the mail of `port` reaches smime; nil if it does not.
    func route(of port: Service) -> Route? {
        if let filter = contentFilter(of: port), let service = services.first(where: { $0.name == filter.transport }) {
            if service.filter != nil {
                return Route(name: service.name, direction: service.direction, address: nil, isMilter: false)
            }
            let address = ServeListener.address(filter.nextHop)
            if ["lmtp", "smtp"].contains(service.program), isServe(address, named: service.name) {
                let direction = direction(of: address, named: service.name)
                return Route(name: service.name, direction: direction, address: address, isMilter: false)
            }
        }
        let milters = milters(of: port).map(ServeListener.address)
        return milters.first { isServe($0, named: "") }.map {
            Route(name: $0, direction: direction(of: $0, named: ""), address: $0, isMilter: true)
        }
    }

    /// The addresses of a port's milters, without the settings that may follow an address inside braces.
    func milters(of port: Service) -> [String] {
        let list = value("smtpd_milters", of: port) ?? ""
        return list.split { ", {}\t".contains($0) }.map(String.init).filter { $0.contains(":") }
    }

    /// The services in master.cf that pass mail to `smime serve` as a content filter.
    var serveTransports: [Service] {
        let names = Set(
            services.compactMap { route(of: $0).flatMap { $0.address != nil && !$0.isMilter ? $0.name : nil } }
        )
        return services.filter { names.contains($0.name) && $0.program != "smtpd" }
    }

    /// Whether `smime serve` sends its results to this port. Such a port accepts mail from this host only, and passes mail to
    /// no filter.
    func isReturn(_ port: Service) -> Bool {
        let isLocal = ["127.", "[::1]", "localhost"].contains { port.name.hasPrefix($0) }
        return isLocal && port.override("content_filter") == "" && route(of: port) == nil
            && services.contains { route(of: $0)?.address != nil }
    }

    /// Whether `address` belongs to `smime serve`: it is one of the listeners in the service's options, or contains
    /// `smime`, or the service in master.cf has a name that begins with `smime`. The names are needed if the options
    /// are elsewhere or cannot be read.
    private func isServe(_ address: String, named name: String) -> Bool {
        listeners.contains { $0.address == address } || name.hasPrefix("smime") || address.contains("smime")
    }

    /// The direction according to the service's options, or else to the name of the transport, the path of the socket, or
    /// the first label of the host's name. Other labels may be such a word by chance, as in `smime.example.in`.
    private func direction(of address: String, named name: String) -> Direction? {
        if let listener = listeners.first(where: { $0.address == address }) { return listener.direction }
        let place = address.hasPrefix("unix:") ? address : String(address.prefix { $0 != "." })
        return [name, place].lazy.compactMap(Direction.init(namedIn:)).first
    }
}

extension PostfixConfiguration.Direction {
    /// The direction that a word of `text` names, as in `smime-in`, `smimeout2` or `/run/smime/outgoing`; nil if none does.
    fileprivate init?(namedIn text: String) {
        let words = text.lowercased().split { !$0.isLetter }.map { $0.hasPrefix("smime") ? $0.dropFirst(5) : $0 }
        if !Set(words).isDisjoint(with: ["in", "inbound", "incoming"]) {
            self = .incoming
        } else if !Set(words).isDisjoint(with: ["out", "outbound", "outgoing"]) {
            self = .outgoing
        } else {
            return nil
        }
    }
}
