import ByteStreams
import Foundation
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Synchronization
import TestSupport
import Testing

@Suite struct DeliveryTests: ~Copyable {
    private let temporary: TemporaryFolder
    private let entry = DeliveryJournal.Entry(queueID: "Q1", digest: [1, 2, 3])
    private let time = Date(timeIntervalSince1970: 1_793_491_200)

    init() throws { temporary = try TemporaryFolder() }

    private var home: String { temporary.file("store").path }

    private func store() async throws -> Store { try await Store.open(StoreLocation(home: home), mode: .readWrite) }

    private func delivery(_ groups: [[String]]) throws -> Delivery {
        Delivery(
            from: "alice@example.com",
            groups.enumerated().map { index, recipients in
                Delivery.Message(MemorySource(Array("message \(index)".utf8)), to: recipients)
            }
        )
    }

    @Test func `a message is locked during delivery, also within one process`() async throws {
        let location = try await store().location
        let other = DeliveryJournal.Entry(queueID: "Q2", digest: entry.digest)
        let held = try await DeliveryLock(location, for: entry)
        let done = try await DeliveryLock(location, for: other)
        _ = consume done
        await #expect(throws: KeystoreError.busy(path: location.deliveryLockFile)) {
            _ = try await DeliveryLock(location, for: entry, timeout: 0.1)
        }
        _ = consume held
        _ = try await DeliveryLock(location, for: entry, timeout: 0.1)
    }

    @Test(arguments: 0...3)
    func `without a journal what was sent in part says to whom`(_ failing: Int) async throws {
        let transport = FakeTransport(failing: failing)
        let groups = [["a@x.test", "b@x.test"], ["c@x.test"], ["d@x.test"]]
        switch failing {
        case 0: await #expect(throws: TransportError("no")) { try await delivery(groups).runOnce(through: transport) }
        case 3: try await delivery(groups).runOnce(through: transport)
        default:
            let error = await #expect(throws: UnfinishedDelivery.self) {
                try await delivery(groups).runOnce(through: transport)
            }
            #expect(error?.unserved == groups[failing])
            #expect(error?.served.sorted() == groups.flatMap(\.self).filter { !groups[failing].contains($0) })
        }
        let isStopped = failing == 0
        #expect(transport.sent.count == (isStopped ? 0 : failing == 3 ? 3 : 2))
    }

    @Test(arguments: 0...3)
    func `after any number of failed deliveries every recipient gets one copy`(_ failing: Int) async throws {
        let store = try await store()
        let transport = FakeTransport(failing: failing)
        let groups = [["a@x.test", "b@x.test"], ["c@x.test"], ["d@x.test"]]
        for attempt in 0...1 {
            do {
                try await delivery(groups).run(through: transport, rememberingIn: store, as: entry, at: time)
                #expect(attempt == 1 || failing == 3)
            } catch let error as TransportError {
                #expect(attempt == 0 && error.reason == "no")
                // A rejected message does not delay the other recipients.
                #expect(transport.sent.count == groups.count - 1)
            }
        }
        #expect(transport.sent.sorted { $0.count > $1.count || $0.first ?? "" < $1.first ?? "" } == groups)
        #expect(try await store.journal.undelivered(groups.flatMap(\.self), for: entry).isEmpty)
    }

    @Test func `a retry skips recipients that already have the message`() async throws {
        let store = try await store()
        try await store.journal.record(["a@x.test"], of: entry, at: time)
        let transport = FakeTransport(failing: 9)
        try await delivery([["a@x.test", "b@x.test"]])
            .run(through: transport, rememberingIn: store, as: entry, at: time)
        #expect(transport.sent == [["b@x.test"]])
    }

    @Test func `the journal distinguishes messages with the same queue id and removes old entries`() async throws {
        let store = try await store()
        let other = DeliveryJournal.Entry(queueID: "Q1", digest: [4])
        try await store.journal.record(["a@x.test"], of: entry, at: time)
        #expect(try await store.journal.undelivered(["a@x.test"], for: other) == ["a@x.test"])
        try await store.journal.record(["a@x.test"], of: other, at: time.addingTimeInterval(40 * 86_400))
        #expect(try await store.journal.undelivered(["a@x.test"], for: entry) == ["a@x.test"])
        #expect(try await store.journal.undelivered(["a@x.test"], for: other).isEmpty)
    }

    @Test
    func
        `where a queue ID may be used again for another message, old records do not count, and new ones take their place`()
        async throws
    {
        let store = try await store()
        let later = time.addingTimeInterval(5_000)
        func known(since seconds: Double) -> DeliveryJournal.Entry {
            DeliveryJournal.Entry(
                queueID: entry.queueID,
                digest: entry.digest,
                recordsSince: later.addingTimeInterval(-seconds)
            )
        }
        try await store.journal.record(["a@x.test"], of: entry, at: time)
        #expect(try await store.journal.undelivered(["a@x.test"], for: known(since: 6_000)).isEmpty)
        #expect(try await store.journal.undelivered(["a@x.test"], for: known(since: 4_200)) == ["a@x.test"])
        try await store.journal.record(["a@x.test"], of: known(since: 4_200), at: later)
        #expect(try await store.journal.undelivered(["a@x.test"], for: known(since: 4_200)).isEmpty)
        #expect(try await !store.journal.recordCrash(at: entry, time))
        #expect(try await store.journal.recordCrash(at: known(since: 4_200), later))
    }

    @Test func `a forgotten message is another one when it comes again, and others are not forgotten`() async throws {
        let store = try await store()
        let other = DeliveryJournal.Entry(queueID: "Q2", digest: entry.digest)
        for entry in [entry, other] { try await store.journal.record(["a@x.test", "b@x.test"], of: entry, at: time) }
        #expect(try await !store.journal.recordCrash(at: entry, time))
        try await store.journal.forget(entry)
        #expect(try await store.journal.undelivered(["a@x.test", "b@x.test"], for: entry) == ["a@x.test", "b@x.test"])
        #expect(try await store.journal.undelivered(["a@x.test", "b@x.test"], for: other).isEmpty)
        #expect(try await store.journal.recordCrash(at: entry, time))
    }

    @Test func `a delivery that could not be recorded at once is recorded before the next attempt`()
        async throws
    {
        let store = try await store()
        let file = store.location.path + "/data/smime.sqlite"
        let transport = FakeTransport(failing: 9) { try Self.shell(Self.breaking, file: file) }
        let groups = [["a@x.test"], ["b@x.test"]]
        await #expect(throws: (any Error).self) {
            try await delivery(groups).run(through: transport, rememberingIn: store, as: entry, at: time)
        }
        try await delivery(groups).run(through: transport, rememberingIn: store, as: entry, at: time)
        #expect(transport.sent == groups)
    }

    @Test func `a second attempt does not send again if only the record was late`() async throws {
        let store = try await store()
        let file = store.location.path + "/data/smime.sqlite"
        let transport = FakeTransport(failing: 9) { try Self.shell(Self.breaking, file: file) }
        for _ in 0...1 {
            try await delivery([["a@x.test"]]).run(through: transport, rememberingIn: store, as: entry, at: time)
        }
        #expect(transport.sent == [["a@x.test"]])
    }

    @Test func `a task that was cancelled waits, too, until what was sent is recorded`() async throws {
        let (store, entry, time) = (try await store(), entry, time)
        let mail = try delivery([["a@x.test"]])
        let file = store.location.path + "/data/smime.sqlite"
        let sending = Mutex<Task<Void, any Error>?>(nil)
        let transport = FakeTransport(failing: 9) {
            try Self.shell(Self.breaking, file: file)
            while sending.withLock({ $0 }) == nil { usleep(1000) }
            sending.withLock { $0 }?.cancel()
        }
        let task = Task { try await mail.run(through: transport, rememberingIn: store, as: entry, at: time) }
        sending.withLock { $0 = task }
        try await task.value
        #expect(try await store.journal.undelivered(["a@x.test"], for: entry).isEmpty)
    }

    /// Renames the journal's table, and restores its name after 25 seconds. `Delivery` retries recording for 60 seconds.
    private static let breaking = """
        sqlite3 "$0" 'ALTER TABLE delivery RENAME TO away' || exit 1
        (sleep 25; sqlite3 -cmd '.timeout 20000' "$0" 'ALTER TABLE away RENAME TO delivery') >/dev/null 2>&1 &
        """

    private static func shell(_ script: String, file: String) throws {
        let ending = try ChildProgram(path: "/bin/sh", words: ["sh", "-c", script, file]).run()
        #expect(ending == .exited(0))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a full disk delays no delivery, and the log says that deliveries are not recorded`() async throws {
        let store = try await store()
        try Self.shell(Self.filling, file: store.location.path + "/data/smime.sqlite")
        let transport = FakeTransport(failing: 9)
        let warnings = Mutex<[String]>([])
        try await delivery([["a@x.test"]]).run(
            through: transport,
            rememberingIn: store,
            as: entry,
            at: time,
            timeout: 3600,
            warn: { text in warnings.withLock { $0.append(text) } }
        )
        #expect(transport.sent == [["a@x.test"]])
        let told = warnings.withLock { $0 }
        try #require(told.count == 1, "\(told)")
        #expect(told[0].hasPrefix("the delivery is not recorded") && told[0].hasSuffix("is full"), "\(told)")
    }

    /// Makes SQLite report a full disk at each line of the journal: the highest row number is in use, so no row can be
    /// added.
    private static let filling = """
        sqlite3 "$0" 'CREATE TABLE no_room (id INTEGER PRIMARY KEY AUTOINCREMENT);
            INSERT INTO no_room VALUES (9223372036854775807);
            CREATE TRIGGER fill BEFORE INSERT ON delivery BEGIN INSERT INTO no_room VALUES (NULL); END'
        """

    @Test(arguments: ["head -c 5", "sed /now/q", "true"])
    func `a program that succeeds without reading the whole message has not accepted it`(_ command: String) async throws
    {
        let text = "Subject: s\n\nnow\n" + String(repeating: "more\n", count: 100_000)
        let mail = try Spool.source(memoryLimit: 0) { try $0.write(text) }
        let transport = SendmailTransport(program: "/bin/sh", arguments: ["-c", command, "-i"])
        do {
            _ = try await transport.send(mail, from: "", to: ["a@x.test"])
            Issue.record("taken")
        } catch {
            #expect(error.reason.hasPrefix("/bin/sh: status 0, though it read only "))
            #expect(error.reason.hasSuffix(" of the message's \(text.utf8.count) bytes"))
        }
    }

    @Test(arguments: [("a\n.\nb\n", false), ("a\r\n.\r\nb\r\n", false), ("a\n..\n.b\n \r.", true), ("a\n.", false)])
    func `a program without -i gets no line with a single dot`(_ text: String, _ isTaken: Bool) async throws {
        let mail = MemorySource(Array(text.utf8))
        for (word, passes) in [("-x", isTaken), ("-i", true), ("-oi", true)] {
            let transport = SendmailTransport(program: "/bin/sh", arguments: ["-c", "cat", word])
            do {
                _ = try await transport.send(mail, from: "", to: ["a@x.test"])
                #expect(passes)
            } catch {
                #expect(!passes && error.reason.contains("a single dot"))
            }
        }
    }

    @Test(arguments: [0, 64])
    func `sendmail gets the whole message and unchanged arguments`(_ memoryLimit: Int) async throws {
        let mail = try Spool.source(memoryLimit: memoryLimit) { try $0.write("a message") }
        let transport = SendmailTransport(program: "/bin/sh", arguments: ["-c", "echo \"$* $(cat)\" >&2; exit 3", "0"])
        let said = "-f <> -- a@x.test;b a message"
        await #expect(throws: TransportError("/bin/sh: status 3: \(said)", status: 3, output: [said])) {
            _ = try await transport.send(mail, from: "", to: ["a@x.test;b"])
        }
        let chatty = SendmailTransport(program: "/bin/sh", arguments: ["-c", "printf 'one\\r\\n\\ntwo'; exit 69", "0"])
        await #expect(throws: TransportError("/bin/sh: status 69: one", status: 69, output: ["one", "two"])) {
            _ = try await chatty.send(mail, from: "", to: ["a@x.test"])
        }
        await #expect(throws: TransportError.self) {
            _ = try await SendmailTransport(program: "/nonexistent").send(mail, from: "", to: ["a@x.test"])
        }
    }
}

/// Records the recipients; fails once, after `failing` messages.
private final class FakeTransport: ContentTransport {
    private struct State {
        var sent: [[String]] = []
        var failing: Int
    }

    private let state: Mutex<State>
    /// Runs after the first message.
    private let afterFirst: @Sendable () throws -> Void

    var sent: [[String]] { state.withLock { $0.sent } }

    init(failing: Int, afterFirst: @escaping @Sendable () throws -> Void = {}) {
        state = Mutex(State(failing: failing))
        self.afterFirst = afterFirst
    }

    func send(
        _ content: any ByteSource,
        from sender: String,
        to recipients: [String]
    ) async throws(TransportError) -> String? {
        let fails = state.withLock { state in
            let fails = state.sent.count == state.failing
            if fails { state.failing = -1 } else { state.sent.append(recipients) }
            return fails
        }
        if fails { throw TransportError("no") }
        if sent.count == 1 { do { try afterFirst() } catch { throw TransportError("\(error)") } }
        return nil
    }
}
