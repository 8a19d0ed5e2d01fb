import Foundation
import TestSupport
import Testing

/// A store, a next hop, and `smime serve` between the test and the next hop. All sockets are in a separate folder.
final class ServeScene {
    private let folder: TemporaryFolder
    let smime: URL
    let sink: MailSink
    private(set) var process = Process()
    private let environment: [String: String]
    private let options: [String]

    /// - Parameters:
    ///   - options: additional options of the command.
    ///   - variables: additional environment variables.
    ///   - refusals: see `MailSink`.
    ///   - heldText: see `MailSink`.
    ///   - limit: see `MailSink`.
    ///   - resetLimit: see `MailSink`.
    init(
        _ options: [String] = [],
        variables: [String: String] = [:],
        refusing refusals: [String: String] = [:],
        holding heldText: String? = nil,
        limit: Int = .max,
        resetLimit: Int = .max
    ) throws {
        folder = try TemporaryFolder()
        smime = try Tool.smime()
        self.options = options
        environment = ProcessInfo.processInfo.environment
            .merging(["SMIME_HOME": folder.file("home").path]) { $1 }.merging(variables) { $1 }
        sink = try MailSink(
            on: folder.file("hop").path,
            refusing: refusals,
            holding: heldText,
            limit: limit,
            resetLimit: resetLimit
        )
        try Data("test".utf8).write(to: folder.file("pw"))
        if variables["SMIME_STORE"] != nil { try run(["store", "init"]) }
        try run(["import", Fixtures.certs.appending(path: "alice/alice.p12").path, "--password-file", path("pw")])
        try run(["import", "--trust", Fixtures.certs.appending(path: "ca/root.pem").path])
        try run(
            ["import"] + ["bob/cert.pem", "ca/intermediate.pem"].map { Fixtures.certs.appending(path: $0).path }
        )
        try run(["policy", "set", "--global", "--sign", "available", "--encrypt", "available"])
        try start()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func path(_ name: String) -> String { folder.file(name).path }

    /// The log of the service.
    var log: String { (try? String(contentsOf: folder.file("log"), encoding: .utf8)) ?? "" }

    /// Runs a command on the same store.
    @discardableResult func run(_ words: [String]) throws -> String {
        let result = try CommandRunner(smime.path, environment: environment, folder: folder.url).run(words)
        try #require(result.status == 0, "\(words): \(result.errorText)")
        return result.text
    }

    /// Starts the service and waits until it listens.
    func start() throws {
        let file = folder.file("log")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        process = Process()
        process.executableURL = smime
        process.environment = environment
        process.standardError = try FileHandle(forWritingTo: file)
        process.arguments =
            [
                "serve", "--no-system-anchors", "--authserv-id", "gw.example.com", "--listen",
                "outgoing=smtp:unix:\(path("out"))", "--listen", "incoming=lmtp:unix:\(path("in"))",
                "--next-hop", "outgoing=smtp:unix:\(path("hop"))", "--next-hop", "incoming=smtp:unix:\(path("hop"))",
            ] + options
        try process.run()
        try wait("the service listens") { log.contains("ready, listening on") }
    }

    /// Waits until `condition` holds, for at most a minute because the machine may be busy.
    func wait(_ what: Comment, _ condition: () throws -> Bool) throws {
        for _ in 0..<6000 {
            if try condition() { return }
            usleep(10_000)
        }
        Issue.record(what)
        throw CancellationError()
    }

    /// Connects and sends the greeting.
    func connect(_ listener: String) throws -> LineSocket {
        let socket = try LineSocket(to: path(listener))
        #expect(socket.reply().hasPrefix("220 gw.example.com"))
        #expect(socket.ask(listener == "in" ? "LHLO test" : "EHLO test").hasPrefix("250"))
        return socket
    }

    /// Sends a message and returns the replies to its end.
    func send(_ mail: String, from sender: String, to recipients: [String], via listener: String) throws -> [String] {
        let socket = try connect(listener)
        #expect(socket.ask("MAIL FROM:<\(sender)>").hasPrefix("250"))
        for recipient in recipients { #expect(socket.ask("RCPT TO:<\(recipient)>").hasPrefix("250")) }
        let answer = socket.ask("DATA")
        guard answer.hasPrefix("354") else { return [answer] }
        socket.send(mail.replacing("\n", with: "\r\n") + ".\r\n")
        return (listener == "in" ? recipients.indices : 0..<1).map { _ in socket.reply() }
    }

    static func mail(_ text: String = "Hello", to recipient: String = "bob@example.com") -> String {
        "From: alice@example.com\nTo: \(recipient)\nSubject: s\nMessage-ID: <1@example.com>\n\n\(text)\n"
    }
}
