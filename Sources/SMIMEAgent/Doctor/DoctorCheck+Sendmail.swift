extension DoctorCheck {
    /// Checks that the program that sends mail reads the whole message.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments; nothing is checked if it is nil.
    ///   - place: where the program is configured.
    mutating func checkSendmail(_ command: String?, of place: String) {
        guard let command, let sendmail = SendmailCommand(parsing: command), !sendmail.passesLoneDots else { return }
        add(
            "filter-sendmail",
            .warning,
            text:
                "\(place): '\(command)' lacks -i: mail that has a line with a single dot is deferred, because sendmail could end the message at that line",
            remedies: [.advice("add -i or -oi to its arguments")]
        )
    }
}
