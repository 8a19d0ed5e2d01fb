import Foundation
import MailFilter
import Streams

/// What Postfix says of the services in master.cf that have to do with `smime filter`.
///
/// Source: master(5), pipe(8), postconf(1)
struct PostfixWiring {
    /// One service: its name and type, the program, and the words behind it.
    struct Service {
        let name: String
        let program: String
        let words: [String]

        /// A line of `postconf -M`; nil if it is none.
        init?(_ line: String) {
            let fields = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard fields.count >= 8 else { return nil }
            (name, program, words) = (fields[0], fields[7], Array(fields[8...]))
        }

        /// The words that run `smime filter`; nil if the service does something else.
        var filter: [String]? {
            guard program == "pipe", let start = words.firstIndex(where: { $0.hasPrefix("argv=") }) else { return nil }
            let command = Array(words[start...])
            return command.count > 2 && command[0].hasSuffix("smime") && command[1] == "filter" ? command : nil
        }

        /// The attribute of pipe(8) called `name`.
        func attribute(_ name: String) -> String? {
            words.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
        }

        /// The parameter that the service has for itself.
        func override(_ name: String) -> String? {
            zip(words, words.dropFirst()).first { $0 == "-o" && $1.hasPrefix("\(name)=") }
                .map { String($1.dropFirst(name.count + 1)) }
        }
    }

    let services: [Service]
    /// Parameters of main.cf, by name.
    let parameters: [String: String]
    /// Why Postfix could not be asked.
    private(set) var failure: String?
    /// What to do about it.
    private(set) var hint = "install Postfix, or say where its configuration is: --mta-config"

    /// What postconf says, of the configuration in `folder` or Postfix's own.
    static func read(from folder: String?) -> PostfixWiring {
        let place = folder.map { ["-c", $0] } ?? []
        do {
            let services = try postconf(place + ["-M"]).split(separator: "\n").compactMap { Service(String($0)) }
            let lines = try postconf(place + ["content_filter", "smtpd_milters", "smtpd_sender_restrictions"])
            let parameters = lines.split(separator: "\n").map { line in
                line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            }
            return PostfixWiring(
                services: services,
                parameters: Dictionary(
                    parameters.map { ($0[0], $0.count > 1 ? $0[1] : "") },
                    uniquingKeysWith: { $1 }
                )
            )
        } catch {
            var wiring = PostfixWiring(services: [], parameters: [:], failure: Failure(error).message)
            let file = "\(folder ?? defaultFolder)/main.cf"
            if !FileManager.default.fileExists(atPath: file) {
                wiring.failure = "\(file): not found, so Postfix is not set up there"
                wiring.hint =
                    "say where its configuration is, --mta-config DIR; or set it up first (Debian: dpkg-reconfigure postfix)"
            }
            return wiring
        }
    }

    /// Where Postfix looks if nothing else is said, as most systems build it.
    private static let defaultFolder = "/etc/postfix"

    private static func postconf(_ arguments: [String]) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let candidates = (path.split(separator: ":").map(String.init) + ["/usr/sbin"]).map { "\($0)/postconf" }
        guard let program = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(.noInput, "postconf: not found")
        }
        let output = try SpooledFile { _ in }
        let child = ChildProgram(path: program, words: ["postconf"] + arguments, standardOutput: output.descriptor)
        guard try child.run() == .exited(0) else { throw Failure(.noInput, "\(program): failed") }
        let source = try output.rewound()
        return String(decoding: try source.bytes(in: 0..<min(source.count, 1 << 20)), as: UTF8.self)
    }
}

extension Examination {
    /// Looks at how `smime filter` is wired into Postfix.
    mutating func examine(_ wiring: PostfixWiring) {
        if let failure = wiring.failure {
            return add("mta", .error, failure, [wiring.hint], status: .configuration)
        }
        let filters = wiring.services.filter { $0.filter != nil }
        guard !filters.isEmpty else {
            return add(
                "mta-filter",
                .error,
                "no service in master.cf runs smime filter",
                ["see docs/postfix.md"],
                status: .configuration
            )
        }
        for service in filters { examine(service, wiring) }
        examineLoop(wiring, filters.map(\.name))
    }

    private mutating func examine(_ service: PostfixWiring.Service, _ wiring: PostfixWiring) {
        let before = findings.count
        let user = service.attribute("user") ?? ""
        if user.isEmpty || user == "root" || user.hasPrefix("root:") {
            addWiring(
                service.name,
                "runs as \(user.isEmpty ? "nobody in particular" : "root")",
                "give it the store's owner: user=smime"
            )
        }
        let flags = service.attribute("flags") ?? ""
        if flags.contains(where: { "FDO.".contains($0) }) {
            addWiring(service.name, "flags=\(flags) changes the mail", "use flags=Rq")
        }
        let words = service.filter ?? []
        if !words.contains(where: { $0.contains("${sender}") }) {
            addWiring(service.name, "is not told the sender", "add --sender=${sender}")
        }
        let end = words.firstIndex(of: "--")
        if end == nil || !words[(end ?? 0)...].contains("${recipient}") {
            addWiring(service.name, "does not get the recipients behind --", "end it with -- ${recipient}")
        }
        if !words.contains(where: { $0.contains("${queue_id}") }) {
            addWiring(
                service.name,
                "is not told the queue id, so a second attempt may send twice",
                "add --queue-id ${queue_id}"
            )
        }
        examineOwner(service, words, user)
        let users = wiring.services.filter { ($0.override("content_filter") ?? "").hasPrefix("\(service.name):") }
        if users.isEmpty, !(wiring.parameters["content_filter"] ?? "").hasPrefix("\(service.name):") {
            add(
                "mta-filter",
                .warning,
                "\(service.name): no service has it as its content_filter",
                ["see docs/postfix.md"]
            )
        }
        if words.contains("outgoing") { for port in users { examineSenders(port, wiring) } }
        if findings.count == before {
            add("mta-filter", .ok, "\(service.name): \(users.map(\.name).joined(separator: ", "))")
        }
    }

    /// The filter can open the store only as its owner.
    private mutating func examineOwner(_ service: PostfixWiring.Service, _ words: [String], _ user: String) {
        guard let option = words.firstIndex(of: "--home"), option + 1 < words.count,
            let owner = getpwnam(String(user.prefix { $0 != ":" }))
        else { return }
        var status = stat()
        let home = words[option + 1]
        guard stat(home, &status) == 0 else {
            return addWiring(service.name, "\(home): no such store", "see docs/postfix.md")
        }
        if status.st_uid != owner.pointee.pw_uid {
            addWiring(service.name, "\(home) does not belong to \(user)", "chown -R \(user) \(home)")
        }
    }

    /// Who may use any sender gets any account's signature; who signs with DKIM before us signs what will change.
    private mutating func examineSenders(_ port: PostfixWiring.Service, _ wiring: PostfixWiring) {
        let restrictions = port.override("smtpd_sender_restrictions") ?? wiring.parameters["smtpd_sender_restrictions"]
        if restrictions?.contains("sender_login_mismatch") != true {
            add(
                "mta-senders",
                .warning,
                "\(port.name): senders may call themselves what they like, and get that account's signature",
                ["add -o smtpd_sender_restrictions=reject_sender_login_mismatch"]
            )
        }
        if let milters = port.override("smtpd_milters") ?? wiring.parameters["smtpd_milters"], !milters.isEmpty {
            add(
                "mta-milters",
                .warning,
                "\(port.name): milters see mail before it is signed and encrypted; DKIM there breaks",
                ["sign with DKIM behind the filter: non_smtpd_milters"]
            )
        }
    }

    /// With the filter in main.cf, what it hands back would come to it again.
    private mutating func examineLoop(_ wiring: PostfixWiring, _ names: [String]) {
        guard let filter = wiring.parameters["content_filter"], names.contains(where: { filter.hasPrefix("\($0):") }),
            let pickup = wiring.services.first(where: { $0.program == "pickup" }),
            pickup.override("content_filter") != ""
        else { return }
        add(
            "mta-loop",
            .error,
            "content_filter in main.cf is for what the filter hands back, too",
            ["set it for smtpd services in master.cf instead"],
            status: .configuration
        )
    }

    private mutating func addWiring(_ service: String, _ text: String, _ hint: String) {
        add("mta-filter", .error, "\(service): \(text)", [hint], status: .configuration)
    }
}
