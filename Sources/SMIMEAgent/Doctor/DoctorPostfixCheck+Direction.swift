import SMIMEStore

extension DoctorPostfixCheck {
    /// Checks that `port` has the filter for its direction. Mail of this host's users that passes only the incoming
    /// filter, or no filter, is sent unsigned and unencrypted, even if a rule requires more.
    mutating func checkDirection(of port: PostfixConfiguration.Service) {
        guard let senders = PostfixSenders(of: port, in: configuration) else { return }
        let route = configuration.route(of: port)
        let filter = route?.name
        switch route?.direction {
        case .incoming where !senders.acceptsAnyClient:
            addDirection(
                "\(port.name): only our own users send there, and \(filter ?? "") is the incoming filter: nothing is signed or encrypted, whatever a rule requires",
                hint: "give it the outgoing one: \(contentFilter(.outgoing))"
            )
        case .outgoing where senders.acceptsAnyClient:
            addDirection(
                "\(port.name): other hosts send there, and \(filter ?? "") is the outgoing filter: their mail is not verified, and may get an account's signature",
                hint:
                    "let only users send there: -o smtpd_relay_restrictions=permit_sasl_authenticated,reject; or give it the incoming filter: \(contentFilter(.incoming))"
            )
        case .outgoing:
            break
        case .incoming, nil:
            guard let own = senders.relaySenders else { return }
            add(
                "mta-relay",
                .warning,
                text:
                    "\(port.name): \(own) may send mail to other hosts there, and none of this mail is signed or encrypted, whatever a rule requires",
                remedies: [
                    .advice(
                        "let them send through a port with the outgoing filter; at \(port.name) accept only mail for this host's domains: -o smtpd_relay_restrictions=reject_unauth_destination"
                    )
                ]
            )
        }
    }

    /// A filter that is called without a direction fails with a usage error for every mail.
    mutating func checkDirectionGiven(_ service: PostfixConfiguration.Service) {
        guard service.direction == nil else { return }
        addDirection(
            "\(service.name): smime filter has neither outgoing nor incoming as its argument",
            hint: "write outgoing or incoming after filter"
        )
    }

    private func contentFilter(_ direction: PostfixConfiguration.Direction) -> String {
        let port = configuration.ports.first {
            configuration.route(of: $0).map { $0.direction == direction && !$0.isMilter } ?? false
        }
        if let value = port.flatMap({ configuration.contentFilter(of: $0) }) {
            return "content_filter=\(value.transport):\(value.nextHop)"
        }
        let service = configuration.services.first { $0.direction == direction }
        return "content_filter=\(service?.name ?? (direction == .outgoing ? "smime-out" : "smime-in")):filter"
    }

    private mutating func addDirection(_ text: String, hint: String) {
        add("mta-direction", .error, text: text, remedies: [.advice(hint)])
    }
}

extension DoctorPostfixCheck {
    /// Checks the limits that make Postfix split mail among several filter runs, or end the filter too early; and the
    /// filter's option `--sendmail`.
    mutating func checkLimits(of service: PostfixConfiguration.Service) {
        checkRecipientLimit(of: service)
        if let limit = configuration.seconds("\(service.name)_time_limit"), limit <= timeLimit {
            addWarning(
                "time-limit",
                text:
                    "\(service.name): Postfix ends the filter after \(limit) s and returns the mail; the filter may take \(timeLimit) s",
                hint: "in main.cf: \(service.name)_time_limit = 600s"
            )
        }
        if let command = service.option("--sendmail") { checkSendmail(command, of: service.name) }
    }

    /// Postfix splits a mail with more recipients than the limit.
    mutating func checkRecipientLimit(of service: PostfixConfiguration.Service) {
        let recipients = configuration.number("\(service.name)_destination_recipient_limit") ?? 0
        let most = configuration.number("smtpd_recipient_limit") ?? 1000
        if recipients > 0, recipients < most {
            addWarning(
                "recipient-limit",
                text:
                    "\(service.name): a mail to over \(recipients) recipients is split, and one part may be sent and another returned",
                hint: "in main.cf: \(service.name)_destination_recipient_limit = \(most)"
            )
        }
    }

    /// Checks a port with a filter: aliases must be expanded once, behind the filter and not at this port; and mail of
    /// the largest size that this port accepts must not exceed Postfix's limit after signing and encryption.
    mutating func checkMail(of port: PostfixConfiguration.Service) {
        let name = "receive_override_options"
        let options = configuration.value(name, of: port) ?? ""
        if !options.contains("no_address_mappings") {
            addWarning(
                "mappings",
                text: "\(port.name): aliases and copies are applied twice, before and after the filter",
                hint: "add -o receive_override_options=no_address_mappings"
            )
        }
        guard let most = configuration.number("message_size_limit"), most > 0,
            let taken = configuration.number("message_size_limit", of: port)
        else { return }
        // Binary mail that is signed and encrypted is encoded in base64 twice.
        guard taken == 0 || taken > most / 19 * 10 else { return }
        addWarning(
            "size",
            text:
                "\(port.name): accepts mail that exceeds Postfix's limit of \(most) bytes after signing and encryption",
            hint: "in main.cf message_size_limit = 40960000; for \(port.name) -o message_size_limit=20480000"
        )
    }

    /// The filter returns mail through sendmail. Postfix must not mark that mail as requiring SMTPUTF8.
    mutating func checkInternationalMail() {
        let pickup = configuration.services.first { $0.program == "pickup" }
        let name = "smtputf8_autodetect_classes"
        let classes = pickup?.override(name) ?? configuration.parameters[name] ?? ""
        let words = classes.split { $0 == "," || $0 == " " }
        guard configuration.parameters["smtputf8_enable"] == "yes", words.contains("sendmail") || words.contains("all")
        else {
            return
        }
        addWarning(
            "smtputf8",
            text:
                "mail with a raw 8-bit header that the filter returns is bounced or lost at hosts that do not offer SMTPUTF8",
            hint: "in main.cf: \(name) = verify"
        )
    }

    private mutating func addWarning(_ code: String, text: String, hint: String) {
        add("mta-\(code)", .warning, text: text, remedies: [.advice(hint)])
    }
}
