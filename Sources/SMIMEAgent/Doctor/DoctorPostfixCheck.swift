import Foundation

/// Checks how `smime filter` and `smime serve` are configured in Postfix.
struct DoctorPostfixCheck: DoctorCheck {
    let configuration: PostfixConfiguration
    /// The seconds after which the filter ends by itself.
    let timeLimit: Int
    var findings: [DoctorFinding] = []

    mutating func run() {
        if let failure = configuration.failure {
            return add("mta", .error, text: failure, remedies: [configuration.remedy])
        }
        let filters = configuration.services.filter { $0.filter != nil }
        let routes = configuration.ports.compactMap { port in configuration.route(of: port).map { (port, $0) } }
        guard !filters.isEmpty || routes.contains(where: { $0.1.address != nil }) else {
            return add(
                "mta-filter",
                .error,
                text: "no service in master.cf runs smime filter or leads to smime serve",
                remedies: [.advice("see docs/postfix.md")]
            )
        }
        for service in filters {
            checkDirectionGiven(service)
            check(service)
            checkLimits(of: service)
        }
        for service in configuration.serveTransports { checkServe(service) }
        if routes.contains(where: { $0.1.address != nil }) { checkNextHops() }
        for (port, route) in routes where route.isMilter { checkMilter(route, of: port) }
        for port in configuration.ports where !configuration.isReturn(port) {
            checkFilter(of: port)
            checkDirection(of: port)
        }
        checkLoop(filters.map(\.name))
        if !filters.isEmpty { checkInternationalMail() }
    }

    private mutating func check(_ service: PostfixConfiguration.Service) {
        let before = findings.count
        let user = service.attribute("user") ?? ""
        if user.isEmpty || user == "root" || user.hasPrefix("root:") {
            addWiring(
                service.name,
                text: "runs as \(user.isEmpty ? "no user of its own" : "root")",
                advice: "give it the store's owner: user=smime"
            )
        }
        let flags = service.attribute("flags") ?? ""
        // pipe(8): blank lines, Delivered-To, "From " lines, X-Original-To, escaped dots and escaped "From " lines.
        if flags.contains(where: { "BDFO.>".contains($0) }) {
            addWiring(service.name, text: "flags=\(flags) changes the mail", advice: "use flags=Rq")
        }
        let words = service.filter ?? []
        if !words.contains(where: { $0.contains("${sender}") }) {
            addWiring(service.name, text: "does not get the sender", advice: "add --sender=${sender}")
        }
        let end = words.firstIndex(of: "--")
        if end == nil || !words[(end ?? 0)...].contains("${recipient}") {
            let advice = "let its argv end with -- ${recipient}"
            addWiring(service.name, text: "does not get the recipients after --", advice: advice)
        }
        if !words.contains(where: { $0.contains("${queue_id}") }) {
            addWiring(
                service.name,
                text: "does not get the queue id, so a second attempt may send mail twice",
                advice: "add --queue-id ${queue_id}"
            )
        }
        checkOwner(service, user: user)
        checkProgram(service, words)
        let users = configuration.services.filter {
            $0.override("content_filter")?.hasPrefix("\(service.name):") == true
        }
        if users.isEmpty, configuration.parameters["content_filter"]?.hasPrefix("\(service.name):") != true {
            add(
                "mta-filter",
                .warning,
                text: "\(service.name): no service has it as its content_filter",
                remedies: [.advice("see docs/postfix.md")]
            )
        }
        if service.direction == .outgoing { for port in users { checkSenders(port) } }
        if findings.count == before {
            add("mta-filter", .ok, text: "\(service.name): \(users.map(\.name).joined(separator: ", "))")
        }
    }

    /// Checks that Postfix finds the program, and the program its store.
    private mutating func checkProgram(_ service: PostfixConfiguration.Service, _ words: [String]) {
        let program = words.first.map { String($0.dropFirst("argv=".count)) } ?? ""
        if access(program, X_OK) != 0 {
            addWiring(service.name, text: "\(program): cannot be run", advice: "write the whole path of smime in argv")
        }
        if service.isChrooted {
            addWiring(
                service.name,
                text: "runs in Postfix's queue directory alone (chroot)",
                advice: "put n in its fifth column"
            )
        }
        if service.option("--home") == nil {
            addWiring(service.name, text: "does not get the store's directory", advice: "add --home /var/lib/smime")
        }
    }

    /// Checks that the port has a filter: mail that enters through a port without one is sent unencrypted.
    private mutating func checkFilter(of port: PostfixConfiguration.Service) {
        guard let route = configuration.route(of: port) else {
            return add(
                "mta-unfiltered",
                .warning,
                text: "\(port.name): mail through it is neither signed, encrypted nor verified",
                remedies: [.advice("give it a content_filter, as docs/postfix.md does")]
            )
        }
        // A milter changes mail in place, after aliases were expanded and the size was checked.
        guard !route.isMilter else { return }
        checkMail(of: port)
        if let filter = configuration.contentFilter(of: port), filter.nextHop.isEmpty {
            add(
                "mta-next-hop",
                .warning,
                text:
                    "\(port.name): a mail to several domains is divided, and one part may be sent while another is returned",
                remedies: [.advice("name any next hop: content_filter=\(filter.transport):filter")]
            )
        }
    }

    /// Checks that the filter runs as the owner of the store, who alone can open it.
    private mutating func checkOwner(_ service: PostfixConfiguration.Service, user: String) {
        guard let home = service.option("--home"), let owner = SystemUser(named: String(user.prefix { $0 != ":" }))
        else { return }
        var status = stat()
        guard stat(home, &status) == 0 else {
            return addWiring(service.name, text: "\(home): no such store", advice: "see docs/postfix.md")
        }
        if status.st_uid != owner.id {
            addWiring(
                service.name,
                text: "\(home) does not belong to \(user)",
                remedy: .changeOwner(of: home, to: user)
            )
        }
    }

    /// Checks who may use which sender address, and that no milter gets mail before the filter, because the filter's
    /// changes break a DKIM signature.
    mutating func checkSenders(_ port: PostfixConfiguration.Service) {
        checkLogins(of: port)
        if let milters = configuration.value("smtpd_milters", of: port), !milters.isEmpty {
            add(
                "mta-milters",
                .warning,
                text:
                    "\(port.name): milters get mail before it is signed and encrypted, so their DKIM signatures break",
                remedies: [.advice("sign with DKIM after smime, as docs/postfix-reference.md says")]
            )
        }
    }

    /// Checks that users may send only from their own addresses: otherwise a user could get the signature of any account.
    mutating func checkLogins(of port: PostfixConfiguration.Service) {
        let restrictions = configuration.value("smtpd_sender_restrictions", of: port) ?? ""
        // For hosts and programs that do not log in, a list of senders is enough.
        let isList = restrictions.contains("check_sender_access") && restrictions.hasSuffix("reject")
        if !restrictions.contains("sender_login_mismatch"), !isList {
            add(
                "mta-senders",
                .warning,
                text: "\(port.name): users may use any sender address, and the gateway signs as the account with it",
                remedies: [.advice("add -o smtpd_sender_restrictions=reject_sender_login_mismatch")]
            )
        }
        // Postfix stops at the first restriction that permits the mail.
        let words = restrictions.split { ", \t".contains($0) }.map(String.init)
        let before = words.prefix { !$0.contains("sender_login_mismatch") }
        if before.count < words.count, let permits = before.first(where: { $0.hasPrefix("permit") }) {
            add(
                "mta-senders",
                .warning,
                text:
                    "\(port.name): \(permits) accepts any sender address before it is checked, and the gateway signs as the account with it",
                remedies: [.advice("name reject_sender_login_mismatch first in smtpd_sender_restrictions")]
            )
        }
    }

    /// Checks that pickup does not use `smime filter`, for example through main.cf: the filter returns mail through pickup,
    /// so mail would loop. `smime serve` sends nothing to pickup.
    private mutating func checkLoop(_ names: [String]) {
        guard let pickup = configuration.services.first(where: { $0.program == "pickup" }),
            let filter = configuration.contentFilter(of: pickup), names.contains(filter.transport)
        else { return }
        add(
            "mta-loop",
            .error,
            text: "pickup has a content_filter, which also gets the mail that the filter returns",
            remedies: [.advice("set it for smtpd services in master.cf, and not in main.cf")]
        )
    }

    private mutating func addWiring(_ service: String, text: String, advice: String) {
        addWiring(service, text: text, remedy: .advice(advice))
    }

    private mutating func addWiring(_ service: String, text: String, remedy: DoctorRemedy) {
        add("mta-filter", .error, text: "\(service): \(text)", remedies: [remedy])
    }
}
