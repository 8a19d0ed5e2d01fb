extension DoctorPostfixCheck {
    /// Checks a service that connects to `smime serve`.
    mutating func checkServe(_ service: PostfixConfiguration.Service) {
        let before = findings.count
        let name = "\(service.program)_send_xforward_command"
        if configuration.value(name, of: service) != "yes" {
            add(
                "mta-xforward",
                .warning,
                text: "\(service.name): does not send the queue id, so a second attempt may send mail twice",
                remedies: [.advice("add -o \(name)=yes")]
            )
        }
        checkLineLength(of: service)
        checkRecipientLimit(of: service)
        let ports = configuration.ports.filter { configuration.route(of: $0)?.name == service.name }
        for port in ports {
            guard let route = configuration.route(of: port) else { continue }
            checkListener(of: route, port)
            checkReach(of: route, port)
            if route.direction == .outgoing { checkSenders(port) }
            if service.isChrooted, route.address?.hasPrefix("unix:/run/") == true {
                add(
                    "mta-filter",
                    .error,
                    text:
                        "\(service.name): cannot reach \(route.address ?? ""), because it sees Postfix's queue directory alone (chroot)",
                    remedies: [.advice("put n in its fifth column")]
                )
            }
        }
        if findings.count == before {
            add("mta-filter", .ok, text: "\(service.name): \(ports.map(\.name).joined(separator: ", "))")
        }
    }

    /// Checks that Postfix's client does not break long lines, because a signature over a broken line is invalid.
    private mutating func checkLineLength(of service: PostfixConfiguration.Service) {
        let name = "\(service.program)_line_length_limit"
        guard let limit = configuration.number(name, of: service), limit > 0 else { return }
        add(
            "mta-line-length",
            .warning,
            text: "\(service.name): breaks lines of more than \(limit) bytes, so a signature over them gets smime=fail",
            remedies: [.advice("add -o \(name)=0")]
        )
    }

    /// Checks a port that uses `smime serve` as a milter.
    mutating func checkMilter(_ route: PostfixConfiguration.Route, of port: PostfixConfiguration.Service) {
        let before = findings.count
        checkListener(of: route, port)
        checkReach(of: route, port)
        let milters = configuration.milters(of: port)
        if milters.last.map(ServeListener.address) != route.address {
            add(
                "mta-milter-order",
                .warning,
                text: "\(port.name): milters after smime get its result, and may change what is signed",
                remedies: [.advice("name smime last in smtpd_milters")]
            )
        }
        let action = configuration.value("milter_default_action", of: port) ?? "tempfail"
        if !["tempfail", "quarantine"].contains(action) {
            add(
                "mta-milter-action",
                .error,
                text:
                    "\(port.name): milter_default_action = \(action): while smime is down, mail passes unprocessed or is rejected",
                remedies: [.advice("in main.cf: milter_default_action = tempfail")]
            )
        }
        if port.isChrooted, route.address?.hasPrefix("unix:/run/") == true {
            add(
                "mta-filter",
                .error,
                text:
                    "\(port.name): cannot reach \(route.address ?? ""), because it sees Postfix's queue directory alone (chroot)",
                remedies: [.advice("put n in its fifth column, or use the socket units of docs/serve.md")]
            )
        }
        if route.direction == .outgoing { checkLogins(of: port) }
        if findings.count == before { add("mta-filter", .ok, text: "\(route.name): \(port.name)") }
    }

    /// Checks that Postfix has the ports of this host to which the service sends its results.
    mutating func checkNextHops() {
        for hop in configuration.nextHops where hop.isTCP {
            let parts = hop.address.split(separator: ":").map(String.init)
            guard let number = parts.last, hop.address.hasPrefix("127.") || hop.address.hasPrefix("::1") else {
                continue
            }
            guard !configuration.ports.contains(where: { $0.name == number || $0.name.hasSuffix(":\(number)") }) else {
                continue
            }
            add(
                "mta-return",
                .error,
                text: "\(hop.text): no service in master.cf accepts the gateway's results at port \(number)",
                remedies: [.advice("add the port as docs/postfix.md does, or change --next-hop")]
            )
        }
    }

    /// Checks that the service listens at the socket to which the port leads.
    private mutating func checkListener(of route: PostfixConfiguration.Route, _ port: PostfixConfiguration.Service) {
        let known = configuration.listeners.map(\.address)
        // Only systemd knows the addresses of `fd:` listeners.
        guard let address = route.address, address.hasPrefix("unix:"), !known.isEmpty, !known.contains(address),
            !known.contains(where: { $0.hasPrefix("fd:") })
        else { return }
        add(
            "mta-filter",
            .error,
            text: "\(port.name): leads to \(address), where smime serve does not listen",
            remedies: [.advice("use the address of a --listen option: \(known.joined(separator: ", "))")]
        )
    }

    /// Warns of a TCP port that every user of the host can reach. Ports in the service's own options are left out, because
    /// another check covers the listeners there.
    private mutating func checkReach(of route: PostfixConfiguration.Route, _ port: PostfixConfiguration.Service) {
        guard let address = route.address, !address.hasPrefix("unix:"),
            !configuration.listeners.contains(where: { $0.address == address })
        else { return }
        let parameter = route.isMilter ? "smtpd_milters" : "content_filter"
        add(
            "mta-serve-tcp",
            .warning,
            text:
                "\(port.name): \(parameter) leads to \(address); \(DoctorServeCheck.consequence(of: route.direction))",
            remedies: [.advice("let smime serve listen on a unix socket, as docs/postfix.md does")]
        )
    }
}
