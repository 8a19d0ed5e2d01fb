extension DoctorCheck {
    /// Whether the program that mail is handed to reads all of it.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments; nil says nothing.
    ///   - place: where its name stands.
    mutating func checkSendmail(_ command: String?, of place: String) {
        guard let command, let sendmail = SendmailCommand(parsing: command), !sendmail.passesLoneDots else { return }
        add(
            "filter-sendmail",
            .warning,
            "\(place): '\(command)' is not told -i: mail with a line of a lone dot waits, as that may end it there",
            [.advice("add -i or -oi to its arguments")]
        )
    }
}
