import Foundation
import Synchronization

/// A next hop on a unix socket that keeps every message.
final class MailSink: Sendable {
    struct Mail: Sendable {
        /// The commands MAIL and RCPT.
        var envelope: [String] = []
        var content = ""
    }

    private let mails = Mutex<[Mail]>([])
    /// Replies that refuse recipients whose addresses begin with the key.
    private let refusals: [String: String]
    /// A message with this text gets its reply when the test releases it.
    private let heldText: String?
    private let held = Mutex((count: 0, isReleased: false))
    /// The number of messages that are accepted over one connection.
    private let limit: Int
    /// The number of commands RSET that are accepted over one connection. The next one ends it, as Exim does.
    private let resetLimit: Int

    init(
        on path: String,
        refusing refusals: [String: String] = [:],
        holding heldText: String? = nil,
        limit: Int = .max,
        resetLimit: Int = .max
    ) throws {
        self.resetLimit = resetLimit
        self.refusals = refusals
        self.heldText = heldText
        self.limit = limit
        let listener = try LineSocket.listen(on: path)
        Thread { [self] in
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                Thread { [self] in serve(LineSocket(peer)) }.start()
            }
        }.start()
    }

    var all: [Mail] { mails.withLock { $0 } }

    /// The number of messages that were held.
    var heldCount: Int { held.withLock { $0.count } }

    /// Lets all held messages get their replies.
    func release() { held.withLock { $0.isReleased = true } }

    private func hold(_ content: String) {
        guard let heldText, content.contains(heldText) else { return }
        held.withLock { $0.count += 1 }
        while !held.withLock({ $0.isReleased }) { usleep(10_000) }
    }

    private func serve(_ socket: LineSocket) {
        socket.send("220 sink ESMTP\r\n")
        var mail = Mail()
        var (count, resetCount) = (0, 0)
        while let line = socket.line().map({ String(decoding: $0, as: UTF8.self) }) {
            switch line.prefix(4).uppercased() {
            case "EHLO": socket.send("250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-DSN\r\n250 SMTPUTF8\r\n")
            case "MAIL":
                count += 1
                mail = Mail(envelope: count > limit ? [] : [line])
                socket.send(count > limit ? "452 4.5.3 Too many messages sent\r\n" : "250 2.1.0 Ok\r\n")
            case "RCPT":
                if mail.envelope.isEmpty {
                    socket.send("503 5.5.1 no sender\r\n")
                } else if let refusal = refusals.first(where: { line.contains("<\($0.key)") }) {
                    socket.send(refusal.value + "\r\n")
                } else {
                    mail.envelope.append(line)
                    socket.send("250 2.1.5 Ok\r\n")
                }
            case "DATA":
                guard mail.envelope.count > 1 else {
                    socket.send("554 5.5.1 no recipients\r\n")
                    continue
                }
                socket.send("354 Go\r\n")
                while let line = socket.line(), line != [46] {
                    mail.content +=
                        String(decoding: line.first == 46 ? line.dropFirst() : line[...], as: UTF8.self) + "\r\n"
                }
                hold(mail.content)
                let number = mails.withLock { mails in
                    mails.append(mail)
                    return mails.count
                }
                // The first form is that of Postfix, the second that of OpenSMTPD.
                let forms = ["Ok: queued as Q\(number)", "Q\(number) Message accepted for delivery"]
                socket.send("250 2.0.0 \(forms[number % 2])\r\n")
            case "RSET":
                resetCount += 1
                guard resetCount <= resetLimit else { return socket.send("554 Too many nonmail commands\r\n") }
                socket.send("250 2.0.0 Ok\r\n")
            case "QUIT":
                socket.send("221 2.0.0 Bye\r\n")
                return
            default: socket.send("250 2.0.0 Ok\r\n")
            }
        }
    }
}
