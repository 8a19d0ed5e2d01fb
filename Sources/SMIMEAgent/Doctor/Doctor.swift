package import Foundation
package import SMIMEStore

/// Checks the store, its files and its settings, and says how to repair what is wrong.
package struct Doctor: Sendable {
    private let time: Date
    private let warn: @Sendable (String) -> Void

    /// - Parameters:
    ///   - time: the time at which certificates must be valid.
    ///   - warn: called for each file that is ignored in the folder of revocation lists, and if that folder cannot be
    ///     read.
    package init(at time: Date, warn: @escaping @Sendable (String) -> Void = { _ in }) {
        self.time = time
        self.warn = warn
    }

    /// The findings about the libraries, the clock, and the store. `open` opens the store read-only.
    package func findings(open: () async throws -> Store) async -> [DoctorFinding] {
        var library = DoctorLibraryCheck()
        library.run()
        library.checkClock(time)
        var check = DoctorStoreCheck(time: time, warn: warn)
        do { try await check.run(on: try await open()) } catch {
            check.add("store", .error, text: "\(error)", remedies: [.resolve(error)])
        }
        return library.findings + check.findings
    }

    /// The findings about who can connect to `smime serve`.
    package func findings(of listeners: [ServeListener]) -> [DoctorFinding] {
        var check = DoctorServeCheck(listeners: listeners)
        check.run()
        return check.findings
    }

    /// The findings about the filters in Postfix's configuration.
    ///
    /// - Parameter timeLimit: the seconds after which `smime filter` ends by itself.
    package func findings(of configuration: PostfixConfiguration, timeLimit: Int) -> [DoctorFinding] {
        var check = DoctorPostfixCheck(configuration: configuration, timeLimit: timeLimit)
        check.run()
        return check.findings
    }
}

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
