import Foundation
import SMIMEGateway
import Synchronization
import TestSupport
import Testing

/// `Gateway.send`, and its example in docs/library.md, compiled and run.
@Suite struct SendingExampleTests {
    private let mail = "From: alice@example.com\nTo: bob@example.com, carol@example.com\n\nHello\n"
    private let sender = EnvelopeSender("alice@example.com")
    private let home: TestHome
    /// Makes one message for each of the two recipients.
    private let gateway: Gateway

    init() async throws {
        home = try await TestHome.office(knowing: ["bob"])
        _ = try await home.store.policy.set(.init(.global, sign: .never, encrypt: .available))
        gateway = try await Gateway(home.store)
    }

    private func recipients() throws -> [EmailAddress] {
        try ["bob@example.com", "carol@example.com"].map { try EmailAddress($0) }
    }

    private func send(_ name: String, through transport: FakeTransport, _ gateway: Gateway? = nil) async throws {
        let gateway = gateway ?? self.gateway
        try await submit(Message(mail.utf8), queueID: name, from: sender, to: recipients(), by: gateway, transport)
    }

    @Test(arguments: [0, 1, 9]) func `each recipient gets the mail once, whatever fails`(failing: Int) async throws {
        let transport = FakeTransport(failing: failing)
        for attempt in 0...2 {
            do throws(any Error) {
                try await send("Q1", through: transport)
                #expect(attempt > 0 || failing == 9)
            } catch let error as SMIMEError {
                #expect(attempt == 0 && error.code == .transport && error.kind == .temporary)
                #expect(error.underlyingError is FakeTransport.Failure)
                // The other message was sent nevertheless.
                #expect(transport.sent.count == 1)
            }
        }
        #expect(transport.sent.sorted() == ["bob@example.com", "carol@example.com"])
        try await send("Q2", through: transport)
        #expect(transport.sent.count == 4)
    }

    @Test func `what was sent when the task was cancelled is recorded`() async throws {
        let transport = FakeTransport(failing: 9, cancelling: true)
        let task = Task { try await send("Q1", through: transport) }
        transport.cancel = { task.cancel() }
        let error = await #expect(throws: SMIMEError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(transport.sent.count == 1)
        try await send("Q1", through: transport)
        #expect(transport.sent.sorted() == ["bob@example.com", "carol@example.com"])
    }

    @Test func `without a journal nothing is sent`() async throws {
        let gateway = try await Gateway(Store.open(home.store.location.path, mode: .readOnly))
        let transport = FakeTransport(failing: 9)
        let error = await #expect(throws: SMIMEError.self) { try await send("Q1", through: transport, gateway) }
        #expect(error?.code == .storeReadOnly)
        #expect(transport.sent.isEmpty)
    }

    @Test func `the mail server's sendmail program is a transport`() async throws {
        let folder = try TemporaryFolder()
        let script = "cat >>\(folder.path)/mail; echo \"$*\" >>\(folder.path)/words"
        let sendmail = SendmailTransport(program: "/bin/sh", arguments: ["-c", script, "-i"])
        let message = try Message(mail.utf8)
        try await submit(message, queueID: "Q1", from: sender, to: recipients(), by: gateway, sendmail)
        let words = try String(contentsOf: folder.file("words"), encoding: .utf8).split(separator: "\n").sorted()
        #expect(words == ["bob", "carol"].map { "-f alice@example.com -- \($0)@example.com" })
        #expect(try String(contentsOf: folder.file("mail"), encoding: .utf8).contains("\nHello\n"))
        let broken = SendmailTransport(program: "/bin/sh", arguments: ["-c", "echo no; exit 75", "-i"])
        let error = await #expect(throws: SMIMEError.self) {
            try await submit(message, queueID: "Q2", from: sender, to: recipients(), by: gateway, broken)
        }
        #expect(error?.code == .transport)
        #expect(error?.description == "/bin/sh: status 75: no")
    }

    @Test func `the example in docs/library.md is the compiled one`() throws {
        let page = try String(contentsOf: Fixtures.root.appending(path: "docs/library.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "### Each recipient once\n").last)
        let example = try #require(section.components(separatedBy: "```swift\n").dropFirst().first)
        let wanted = try #require(example.components(separatedBy: "```").first)
        #expect(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).contains(wanted))
    }
}

/// Sends a mail according to the rules. If it throws, call it again later: each recipient gets the mail once.
func submit(
    _ mail: Message,
    queueID: String,
    from sender: EnvelopeSender,
    to recipients: [EmailAddress],
    by gateway: Gateway,
    _ transport: some MailTransport
) async throws {
    let deliveries = try await gateway.outgoing(mail, from: sender, to: recipients)
    for warning in try await gateway.send(deliveries, of: mail, queueID: queueID, through: transport) { print(warning) }
}

/// Records the recipients of each message; fails once.
private final class FakeTransport: MailTransport {
    struct Failure: Error {}

    private struct State {
        var sent: [String] = []
        var failing: Int
        var cancel: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let isCancelling: Bool

    var sent: [String] { state.withLock { $0.sent } }

    /// Cancels the task that sends.
    var cancel: (@Sendable () -> Void)? {
        get { state.withLock { $0.cancel } }
        set { state.withLock { $0.cancel = newValue } }
    }

    /// - Parameters:
    ///   - failing: the number of messages before the one that fails.
    ///   - isCancelling: whether the transport, when it gets the first message, waits until `cancel` is set and calls it.
    init(failing: Int, cancelling isCancelling: Bool = false) {
        state = Mutex(State(failing: failing))
        self.isCancelling = isCancelling
    }

    func send(_ delivery: Gateway.Delivery) async throws {
        try state.withLock { state in
            if state.sent.count == state.failing {
                state.failing = -1
                throw Failure()
            }
            state.sent += delivery.recipients
        }
        guard isCancelling, sent.count == 1 else { return }
        while cancel == nil { try? await Task.sleep(for: .milliseconds(1)) }
        cancel?()
    }
}
