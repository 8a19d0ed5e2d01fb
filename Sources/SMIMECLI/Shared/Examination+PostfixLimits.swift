import SMIMEAgent
import SMIMEStore

extension Examination {
    /// What Postfix would divide or end before the filter has done its work.
    mutating func examineLimits(of service: PostfixWiring.Service, _ wiring: PostfixWiring) {
        let recipients = wiring.number("\(service.name)_destination_recipient_limit") ?? 0
        let most = wiring.number("smtpd_recipient_limit") ?? 1000
        if recipients > 0, recipients < most {
            addWarning(
                "recipient-limit",
                "\(service.name): a mail to more than \(recipients) comes apart, and one share may go where another is sent back",
                "in main.cf: \(service.name)_destination_recipient_limit = \(most)"
            )
        }
        if let limit = wiring.seconds("\(service.name)_time_limit"), limit <= Int(FilterStatus.timeLimit) {
            addWarning(
                "time-limit",
                "\(service.name): Postfix ends the filter after \(limit) s and returns the mail; it may take \(FilterStatus.timeLimit) s",
                "in main.cf: \(service.name)_time_limit = 600s"
            )
        }
        if let command = service.option("--sendmail") { examineSendmail(command, of: service.name) }
    }

    /// What a port with a filter does to mail before the filter, and how much of it.
    mutating func examineMail(of port: PostfixWiring.Service, _ wiring: PostfixWiring) {
        let name = "receive_override_options"
        let options = port.override(name) ?? wiring.parameters[name] ?? ""
        if !options.contains("no_address_mappings") {
            addWarning(
                "mappings",
                "\(port.name): aliases and copies are made before the filter and once more behind it",
                "add -o receive_override_options=no_address_mappings"
            )
        }
        guard let most = wiring.number("message_size_limit"), most > 0,
            let taken = wiring.number("message_size_limit", of: port)
        else { return }
        // Base64 in base64, as binary mail becomes when it is signed and encrypted.
        guard taken == 0 || taken > most / 19 * 10 else { return }
        addWarning(
            "size",
            "\(port.name): takes mail that is larger than Postfix's limit of \(most) bytes once it is signed and encrypted",
            "in main.cf message_size_limit = 40960000; for \(port.name) -o message_size_limit=20480000"
        )
    }

    /// What the filter hands back comes from sendmail, and must not be taken for what needs SMTPUTF8 to the end of its way.
    mutating func examineInternationalMail(_ wiring: PostfixWiring) {
        let pickup = wiring.services.first { $0.program == "pickup" }
        let name = "smtputf8_autodetect_classes"
        let classes = pickup?.override(name) ?? wiring.parameters[name] ?? ""
        let words = classes.split { $0 == "," || $0 == " " }
        guard wiring.parameters["smtputf8_enable"] == "yes", words.contains("sendmail") || words.contains("all") else {
            return
        }
        addWarning(
            "smtputf8",
            "mail with a raw 8-bit header that the filter hands back is lost at hosts that do not offer SMTPUTF8",
            "in main.cf: \(name) = verify"
        )
    }

    /// Whether the program that mail is handed to reads all of it.
    ///
    /// - Parameter place: where its name stands.
    mutating func examineSendmail(_ command: String, of place: String) {
        guard let transport = SendmailCommand(parsing: command), !transport.passesLoneDots else { return }
        add(
            "filter-sendmail",
            .warning,
            "\(place): '\(command)' is not told -i: mail with a line of a lone dot waits, as that may end it there",
            ["add -i or -oi to its arguments"]
        )
    }

    /// Whether the program of the settings does.
    mutating func examineSendmail(of store: Store) async throws {
        let name = Setting.sendmail.rawValue
        if let command = try await store.settings.value(of: name) { examineSendmail(command, of: name) }
    }

    private mutating func addWarning(_ code: String, _ text: String, _ hint: String) {
        add("mta-\(code)", .warning, text, [hint])
    }
}
