import ArgumentParser
import SMIMEAgent

/// Options for the mail account that a profile sets up on a device.
struct ExportedServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The IMAP server (TLS) from which the device reads mail.", valueName: "host[:port]"))
    var imap: MailServers.Server?
    @Option(help: ArgumentHelp("The SMTP server (TLS) through which the device sends mail.", valueName: "host[:port]"))
    var smtp: MailServers.Server?
    @Option(
        help: ArgumentHelp("The Exchange server (ActiveSync) for reading and sending mail.", valueName: "host[:port]")
    )
    var exchange: MailServers.Server?
    @Option(help: ArgumentHelp("The user name for the mail server. (default: the address)", valueName: "name"))
    var login: String?

    /// The name of the first of these options that is given; nil if none is.
    var firstGiven: String? {
        [("--imap", imap != nil), ("--smtp", smtp != nil), ("--exchange", exchange != nil), ("--login", login != nil)]
            .first(where: \.1)?.0
    }

    /// The mail account's servers; if nil, the profile does not change the accounts on the device.
    var servers: MailServers? {
        if let exchange { return .exchange(exchange) }
        guard let imap, let smtp else { return nil }
        return .imap(incoming: imap, outgoing: smtp)
    }

    func validate() throws {
        guard (imap == nil) == (smtp == nil) else { throw ValidationError("--imap and --smtp go together") }
        guard imap == nil || exchange == nil else {
            throw ValidationError("--imap and --exchange exclude each other")
        }
        guard login == nil || servers != nil else { throw ValidationError("--login needs --imap or --exchange") }
    }
}

extension MailServers.Server: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
