import NIOCore
import SMIMEServer

/// Drives a client session; the test plays the next hop.
struct ClientDriver {
    var session = SMTPClientSession(hostName: "gw.test")
    /// What the session wrote, in order.
    private(set) var written = ""
    /// The events other than writing.
    private(set) var events: [SMTPClientSession.Event] = []

    static let everything =
        "250-hop.test\r\n250-PIPELINING\r\n250-SIZE 1000\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-DSN\r\n"
        + "250-ENHANCEDSTATUSCODES\r\n250-XFORWARD NAME ADDR PROTO HELO IDENT\r\n250 CHUNKING\r\n"
    static let nothing = "250 hop.test\r\n"

    /// A session that is ready, with a next hop that announced `extensions`.
    init(extensions: String) {
        receive("220 hop.test\r\n")
        receive(extensions)
        written = ""
        events = []
    }

    /// A session at the start.
    init() {}

    mutating func receive(_ text: String, inPiecesOf size: Int = .max) {
        for var piece in text.utf8.pieces(of: size) {
            session.receive(&piece)
            pump()
        }
    }

    mutating func begin(_ envelope: SMTPEnvelope, size: Int = 3, isEightBit: Bool = false, isProbe: Bool = false) {
        session.begin(SMTPTransaction(envelope, content: .init(size: size, isEightBit: isEightBit), isProbe: isProbe))
        pump()
    }

    mutating func send(_ text: String) {
        written += String(buffer: session.send(ByteBuffer(string: text)))
        pump()
    }

    mutating func endOfContent() {
        written += String(buffer: session.endOfContent())
        pump()
    }

    mutating func pump() {
        while let event = session.next() {
            if case .write(let buffer) = event { written += String(buffer: buffer) } else { events.append(event) }
        }
    }

    /// The lines written since the last call.
    mutating func takeLines() -> [String] {
        defer { written = "" }
        return written.split(separator: "\r\n").map(String.init)
    }

    mutating func takeEvents() -> [SMTPClientSession.Event] {
        defer { events = [] }
        return events
    }
}

extension SMTPEnvelope {
    /// An envelope with every parameter that can be passed on.
    static let full = SMTPEnvelope(
        sender: "a@x.test",
        parameters: ["SIZE=99", "BODY=8BITMIME", "RET=HDRS", "ENVID=q"].compactMap { SMTPParameter($0) },
        recipients: [
            .init("b@y.test", parameters: ["NOTIFY=DELAY", "ORCPT=rfc822;b@y.test"].compactMap { SMTPParameter($0) }),
            .init("\"c d\"@y.test"),
        ],
        xforward: [.name: "mail host", .identifier: "4XYZ", .source: "LOCAL", .helo: "[UNAVAILABLE]"],
        clientName: "client.test"
    )
    static let plain = SMTPEnvelope(sender: "a@x.test", recipients: [.init("b@y.test"), .init("c@y.test")])
}
