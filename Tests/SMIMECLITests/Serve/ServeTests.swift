import Foundation
import TestSupport
import Testing

/// `smime serve` as seen by a mail server, over unix sockets.
@Suite(.startsServer(.mail)) struct ServeTests {
    private let alice = "alice@example.com"
    private let bob = "bob@example.com"

    @Test func `outgoing mail is signed and encrypted, in as many copies as its recipients need`() throws {
        let scene = try ServeScene()
        let replies = try scene.send(ServeScene.mail(), from: alice, to: [bob, "eve@example.org"], via: "out")
        #expect(replies == ["250 2.0.0 sent as Q1, Q2"])
        let mails = scene.sink.all.sorted { $0.envelope[1] < $1.envelope[1] }
        #expect(mails.count == 2)
        for (mail, type) in zip(mails, ["authEnveloped-data", "multipart/signed"]) {
            #expect(mail.envelope.count == 2 && mail.envelope[0].hasPrefix("MAIL FROM:<alice@example.com>"))
            #expect(mail.content.contains(type))
        }
        #expect(mails[0].envelope[1].hasPrefix("RCPT TO:<bob@example.com>"))
        #expect(!mails[0].content.contains("Hello"))
        #expect(scene.log.contains("actions=bob@example.com:sign+encrypt,eve@example.org:sign status=accepted"))
    }

    @Test func `recipients who differ in case alone get the message once each`() throws {
        let scene = try ServeScene()
        let recipients = [bob, "BOB@example.com", "bob@EXAMPLE.com"]
        _ = try scene.send(ServeScene.mail(to: "x@example.org"), from: alice, to: recipients, via: "out")
        let commands = scene.sink.all.flatMap { $0.envelope.dropFirst() }
        #expect(commands.map { $0.prefix { $0 != ">" } }.sorted() == recipients.map { "RCPT TO:<\($0)" }.sorted())
    }

    @Test func `incoming mail gets its verdict, every recipient a reply, and its certificate is learned`() throws {
        let scene = try ServeScene()
        let signed = try CommandRunner(
            scene.smime.path,
            environment: ["SMIME_HOME": scene.path("home"), "PATH": "/usr/bin:/bin"]
        ).run(["sign", "--from", alice], input: .bytes(Array(ServeScene.mail().utf8)))
        let replies = try scene.send(signed.text, from: alice, to: [bob, "carol@example.com"], via: "in")
        #expect(replies == ["250 2.0.0 sent as Q1", "250 2.0.0 sent as Q1"])
        let content = try #require(scene.sink.all.first?.content)
        #expect(content.hasPrefix("Authentication-Results: gw.example.com; smime=pass"))
        #expect(scene.log.contains("verdict=valid signer=alice@example.com"))
    }

    @Test func `what is changed at another terminal counts for the next message`() throws {
        let scene = try ServeScene()
        #expect(try scene.send(ServeScene.mail(), from: alice, to: [bob], via: "out").first?.hasPrefix("250") == true)
        try scene.run(["recipient", "distrust", bob])
        try scene.run(["policy", "set", "--recipient", bob, "--encrypt", "require"])
        let refused = try scene.send(ServeScene.mail(), from: alice, to: [bob], via: "out")
        #expect(refused.first?.hasPrefix("550-5.7.1 no usable certificate for bob@example.com") == true, "\(refused)")
        #expect(scene.sink.all.count == 1)
    }

    @Test func `no recipient gets a message of which a copy cannot be sent`() throws {
        let scene = try ServeScene(refusing: ["eve": "550 5.1.1 unknown", "mallory": "451 4.2.0 later"])
        let refused = try scene.send(ServeScene.mail(), from: alice, to: [bob, "eve@example.org"], via: "out")
        #expect(refused == ["550 5.1.1 eve@example.org: unknown"])
        let delayed = try scene.send(ServeScene.mail(), from: alice, to: [bob, "mallory@example.org"], via: "out")
        #expect(delayed == ["451 4.2.0 mallory@example.org: later"])
        #expect(scene.sink.all.isEmpty)
    }

    @Test func `a next hop that takes few messages over a connection gets more connections`() throws {
        // Two copies need three transactions, because the next hop is first asked about all recipients.
        let scene = try ServeScene(limit: 2)
        for _ in 0..<5 {
            let replies = try scene.send(ServeScene.mail(), from: alice, to: [bob, "eve@example.org"], via: "out")
            #expect(replies.first?.hasPrefix("250") == true, "\(replies)")
        }
        #expect(scene.sink.all.count == 10)
        #expect(scene.sink.all.filter { $0.envelope.last?.contains("eve") == true }.count == 5)
    }

    @Test(arguments: [0, 1])
    func `a next hop that limits RSET over a connection gets all copies of a message, each once`(limit: Int) throws {
        let scene = try ServeScene(resetLimit: limit)
        for _ in 0..<3 {
            let replies = try scene.send(ServeScene.mail(), from: alice, to: [bob, "eve@example.org"], via: "out")
            #expect(replies.first?.hasPrefix("250") == true, "\(replies)")
        }
        #expect(scene.sink.all.count == 6)
        #expect(scene.sink.all.filter { $0.envelope.last?.contains("eve") == true }.count == 3)
    }

    @Test func `replies fit into the little room that some mail servers have for them`() throws {
        let long = String(repeating: "no ", count: 150)
        let scene = try ServeScene(refusing: ["eve": "550 5.1.1 \(long)"])
        let certificate = Fixtures.certs.appending(path: "no-usages/cert.pem").path
        try scene.run(["recipient", "add", "@many.example", certificate, "--trust"])
        let many = (1...60).map { "a\($0)@many.example" }
        let replies = try scene.send(ServeScene.mail(), from: alice, to: [bob] + many, via: "out")
        #expect(replies == ["250 2.0.0 sent as Q1 and 60 more"])
        #expect(scene.sink.all.count == 61)
        let refused = try scene.send(ServeScene.mail(), from: "x@example.org", to: ["eve@example.org"], via: "in")
        #expect(refused.count == 1 && refused.allSatisfy { $0.hasPrefix("550 5.1.1 no") && $0.hasSuffix(" ...") })
        #expect(refused.allSatisfy { $0.utf8.count <= 248 }, "\(refused)")
    }

    @Test func `a message that ends its worker is tried once more, and other messages are served`() throws {
        let scene = try ServeScene(variables: ["SMIME_TEST_TRAP": "ILL", "SMIME_TEST_TRAP_MARK": "deadly"])
        let bytes = try Data(contentsOf: scene.smime)
        // The release binary does not contain the trap.
        guard bytes.range(of: Data("SMIME_TEST_TRAP_MARK".utf8)) != nil else { return }
        for expected in ["451 4.3.0", "554-5.6.0"] {
            let replies = try scene.send(ServeScene.mail("deadly"), from: alice, to: [bob], via: "out")
            #expect(replies.first?.hasPrefix(expected) == true, "\(replies)")
        }
        #expect(scene.sink.all.isEmpty)
        let forged = "Authentication-Results: gw.example.com; smime=pass\n" + ServeScene.mail("deadly")
        #expect(try scene.send(forged, from: alice, to: [bob], via: "in") == ["250 2.0.0 sent as Q1"])
        let content = try #require(scene.sink.all.first?.content)
        #expect(content.contains("smime=permerror") && !content.contains("smime=pass"))
        #expect(try scene.send(ServeScene.mail(), from: alice, to: [bob], via: "out") == ["250 2.0.0 sent as Q2"])
    }

    @Test func `attempts whose clients have gone leave room for other mail`() throws {
        let scene = try ServeScene(["--max-messages", "2"], holding: "held")
        // The message must not be encrypted, so that the next hop recognizes it.
        let content = ServeScene.mail("held").replacing("\n", with: "\r\n") + ".\r\n"
        func attempt() throws -> LineSocket {
            let client = try scene.connect("out")
            #expect(client.ask("XFORWARD IDENT=Q1").hasPrefix("250"))
            for command in ["MAIL FROM:<\(alice)>", "RCPT TO:<eve@example.org>"] { _ = client.ask(command) }
            #expect(client.ask("DATA").hasPrefix("354"))
            client.send(content)
            return client
        }
        let first = try attempt()
        try scene.wait("the next hop has the first attempt") { scene.sink.heldCount == 1 }
        for _ in 0..<3 {
            _ = try attempt()
            // A slot is free again as soon as the service notices that the client has gone.
            try scene.wait("other mail is sent") {
                try scene.send(ServeScene.mail(), from: alice, to: [bob], via: "out").first?.hasPrefix("250") == true
            }
        }
        scene.sink.release()
        #expect(first.reply().hasPrefix("250"))
        #expect(scene.sink.heldCount == 1)
    }

    @Test(arguments: [false, true])
    func `QUIT that comes together with a message does not show that the reply was read`(isTCP: Bool) throws {
        let port = Int.random(in: 20_000..<30_000)
        let scene = try ServeScene(["--listen", "outgoing=smtp:127.0.0.1:\(port)"])
        let content = ServeScene.mail().replacing("\n", with: "\r\n") + ".\r\nQUIT\r\n"
        func attempt(_ name: String) throws -> LineSocket {
            let client = try isTCP ? LineSocket(toPort: port) : LineSocket(to: scene.path("out"))
            #expect(client.reply().hasPrefix("220") && client.ask("EHLO test").hasPrefix("250"))
            #expect(client.ask("XFORWARD IDENT=\(name)").hasPrefix("250"))
            for command in ["MAIL FROM:<\(alice)>", "RCPT TO:<\(bob)>"] { _ = client.ask(command) }
            #expect(client.ask("DATA").hasPrefix("354"))
            client.send(content)
            return client
        }
        var client: LineSocket? = try attempt("Q1")
        client?.waitForInput()
        // The reply is not read.
        client = nil
        #expect(try attempt("Q1").reply() == "250 2.0.0 all recipients have the message already")
        client = try attempt("Q2")
        #expect(client?.reply() == "250 2.0.0 sent as Q2")
        #expect(client?.reply().hasPrefix("221 2.0.0") == true)
        client?.end()
        // The journal does not know this message, because the client has read both replies.
        let reply = try attempt("Q2").reply()
        #expect(reply == "250 2.0.0 sent as Q3", "\(reply)")
    }

    @Test func `a lone line feed, early content and a wrong command end the connection`() throws {
        let scene = try ServeScene()
        var socket = try scene.connect("out")
        for command in ["MAIL FROM:<\(alice)>", "RCPT TO:<\(bob)>", "DATA"] { _ = socket.ask(command) }
        socket.send("Subject: x\r\n\r\ntext\n.\r\nMAIL FROM:<eve@example.org>\r\n")
        #expect(socket.reply().hasPrefix("521 5.6.0"))
        #expect(socket.reply().isEmpty)
        socket = try scene.connect("out")
        for command in ["MAIL FROM:<\(alice)>", "RCPT TO:<\(bob)>"] { _ = socket.ask(command) }
        socket.send("DATA\r\nSubject: x\r\n\r\n.\r\n")
        #expect(socket.reply().hasPrefix("521 5.5.1"))
        socket = try scene.connect("out")
        socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = socket.reply()
        #expect(answer.hasPrefix("5"), "\(answer)")
        #expect(scene.sink.all.isEmpty)
    }

    @Test func `SIGTERM ends the service with status 0 after the message in flight, and other clients get 421`() throws
    {
        let scene = try ServeScene()
        let (idle, busy) = (try scene.connect("out"), try scene.connect("out"))
        for command in ["MAIL FROM:<\(alice)>", "RCPT TO:<\(bob)>", "DATA"] { _ = busy.ask(command) }
        kill(scene.process.processIdentifier, SIGTERM)
        #expect(idle.reply().hasPrefix("421 4.3.2"))
        busy.send(ServeScene.mail().replacing("\n", with: "\r\n") + ".\r\n")
        #expect(busy.reply() == "250 2.0.0 sent as Q1")
        scene.process.waitUntilExit()
        #expect(scene.process.terminationStatus == 0 && scene.process.terminationReason == .exit)
        #expect(!FileManager.default.fileExists(atPath: scene.path("out")))
    }

    @Test func `a killed worker costs one attempt, SIGHUP none, and a killed service leaves nothing behind`() throws {
        let scene = try ServeScene(["--max-messages", "2"])
        let service = scene.process.processIdentifier
        for worker in try workers(of: service) { kill(worker, SIGKILL) }
        try scene.wait("there is another worker") {
            try scene.send(ServeScene.mail(), from: alice, to: [bob], via: "out").first?.hasPrefix("250") == true
        }
        kill(service, SIGHUP)
        try scene.wait("the workers are replaced") { scene.log.contains("the workers are replaced") }
        #expect(try scene.send(ServeScene.mail(), from: alice, to: [bob], via: "out").first?.hasPrefix("250") == true)
        let last = try workers(of: service)
        #expect(!last.isEmpty)
        kill(service, SIGKILL)
        try scene.wait("the workers end") { last.allSatisfy { kill($0, 0) != 0 } }
        // The new service takes over the socket of the killed one.
        try scene.start()
        #expect(try scene.send(ServeScene.mail(), from: alice, to: [bob], via: "out").first?.hasPrefix("250") == true)
    }

    @Test func `a service that cannot work says why, with the status for it`() throws {
        let scene = try ServeScene()
        let hop = ["--next-hop", "outgoing=smtp:unix:\(scene.path("hop"))"]
        let port = Int.random(in: 20_000..<30_000)
        let cases: [([String], Int32, String)] = [
            (["--listen", "outgoing=smtp:unix:\(scene.path("out"))"], 64, "needs --next-hop"),
            (["--listen", "outgoing=smtp:0.0.0.0:1"] + hop, 64, "--allow"),
            (["--listen", "outgoing=smtp:unix:\(scene.path("out"))"] + hop, 73, "cannot listen on"),
            (
                // The second one finds the port in use, whichever process uses it.
                ["--listen", "outgoing=smtp:127.0.0.1:\(port)", "--metrics", "127.0.0.1:\(port)"] + hop, 73,
                ":\(port): Address already in use"
            ),
            (
                ["--home", scene.path("none"), "--listen", "outgoing=smtp:unix:\(scene.path("x"))"] + hop, 78,
                "there is no store"
            ),
        ]
        let environment = ["SMIME_HOME": scene.path("home"), "PATH": "/usr/bin:/bin"]
        for (words, status, text) in cases {
            let result = try CommandRunner(scene.smime.path, environment: environment).run(["serve"] + words)
            #expect(result.status == status && result.errorText.contains(text), "\(words): \(result.errorText)")
        }
    }

    private func workers(of service: pid_t) throws -> [pid_t] {
        let result = try CommandRunner("pgrep").run(["-P", "\(service)"])
        return result.text.split(separator: "\n").compactMap { pid_t($0) }
    }
}
