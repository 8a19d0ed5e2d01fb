import SMIMEStore

extension DoctorPostfixCheck {
    /// Checks the limits that make Postfix split mail among several filter runs, or end the filter too early.
    mutating func checkLimits(of service: PostfixWiring.Service) {
        checkRecipientLimit(of: service)
        if let limit = wiring.seconds("\(service.name)_time_limit"), limit <= timeLimit {
            addWarning(
                "time-limit",
                text:
                    "\(service.name): Postfix ends the filter after \(limit) s and returns the mail; it may take \(timeLimit) s",
                hint: "in main.cf: \(service.name)_time_limit = 600s"
            )
        }
        if let command = service.option("--sendmail") { checkSendmail(command, of: service.name) }
    }

    /// Postfix splits a mail with more recipients than the limit.
    mutating func checkRecipientLimit(of service: PostfixWiring.Service) {
        let recipients = wiring.number("\(service.name)_destination_recipient_limit") ?? 0
        let most = wiring.number("smtpd_recipient_limit") ?? 1000
        if recipients > 0, recipients < most {
            addWarning(
                "recipient-limit",
                text:
                    "\(service.name): a mail to over \(recipients) recipients is split, and one part may be sent and another returned",
                hint: "in main.cf: \(service.name)_destination_recipient_limit = \(most)"
            )
        }
    }

    /// Checks a port with a filter: the smtpd behind the filter must expand the aliases, not this port; and mail of the
    /// largest size that this port accepts must not exceed Postfix's limit after signing and encryption.
    mutating func checkMail(of port: PostfixWiring.Service) {
        let name = "receive_override_options"
        let options = port.override(name) ?? wiring.parameters[name] ?? ""
        if !options.contains("no_address_mappings") {
            addWarning(
                "mappings",
                text: "\(port.name): aliases and copies are applied twice, before and after the filter",
                hint: "add -o receive_override_options=no_address_mappings"
            )
        }
        guard let most = wiring.number("message_size_limit"), most > 0,
            let taken = wiring.number("message_size_limit", of: port)
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
        let pickup = wiring.services.first { $0.program == "pickup" }
        let name = "smtputf8_autodetect_classes"
        let classes = pickup?.override(name) ?? wiring.parameters[name] ?? ""
        let words = classes.split { $0 == "," || $0 == " " }
        guard wiring.parameters["smtputf8_enable"] == "yes", words.contains("sendmail") || words.contains("all") else {
            return
        }
        addWarning(
            "smtputf8",
            text: "mail with a raw 8-bit header that the filter returns is lost at hosts that do not offer SMTPUTF8",
            hint: "in main.cf: \(name) = verify"
        )
    }

    private mutating func addWarning(_ code: String, text: String, hint: String) {
        add("mta-\(code)", .warning, text: text, remedies: [.advice(hint)])
    }
}
