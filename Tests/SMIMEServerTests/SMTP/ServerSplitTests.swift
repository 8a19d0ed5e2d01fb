import SMIMEServer
import TestSupport
import Testing

/// The result of a dialogue does not depend on how its bytes are split.
@Suite struct ServerSplitTests {
    /// Dialogues as lists of turns. A turn is what a client may send without waiting for a reply.
    static let dialogues: [[String]] = [
        [
            "EHLO c\r\n",
            "XFORWARD NAME=x IDENT=4\r\nMAIL FROM:<\"a b\"@x.test> RET=FULL SMTPUTF8\r\nRCPT TO:<ö@y.test> NOTIFY=NEVER\r\nRCPT TO:<>\r\nDATA\r\n",
            "Subject: a\r\n\r\n..\r\n.x\r\n\r\r\n.y\rz\r\n.\r\nMAIL FROM:<>\r\nRCPT TO:<c@y.test>\r\nDATA\r\n",
            ".\r\nQUIT\r\n",
        ],
        [
            "EHLO c\r\n",
            "MAIL FROM:<a@x.test> SIZE=9\r\nRCPT TO:<b@y.test>\r\nBDAT 4\r\n.\r\nxBDAT 0\r\nBDAT 5 LAST\r\n\r\n.\r\nRSET\r\nNOOP\r\nQUIT\r\n",
        ],
        [
            "EHLO c\r\n",
            "MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nBDAT 3\r\nabcRSET\r\nBDAT 2 LAST\r\nxxFOO\r\nVRFY x\r\nEHLO d\r\n",
            "HELP\r\nQUIT\r\n",
        ],
        [
            "EHLO c\r\n", "MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n",
            "text\r\n.\n.\r\nMAIL FROM:<evil@x.test>\r\n",
        ],
        ["EHLO c\r\n", "MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n", "text\r.\r\nMAIL FROM:<evil@x.test>\r\n"],
        ["EHLO c\r\nNOOP\r\nNOOP\nNOOP\r\n"],
        [
            "EHLO c\r\n", "MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n",
            "0123456789\r\n0123456789\r\n0123456789\r\n0123456789\r\n.\r\nQUIT\r\n",
        ],
    ]

    @Test("every cut gives the same events", arguments: dialogues, [SMTPServerSession.Dialect.smtp, .lmtp])
    func cuts(turns: [String], dialect: SMTPServerSession.Dialect) throws {
        // A seed for the fuzz target: a session in complete turns, each ended by 0xFE.
        let seed: [UInt8] = [0, 0] + turns.flatMap { Array($0.utf8) + [0xFE] }
        try Seeds.keep(seed, as: "dialogue-\(Self.dialogues.firstIndex(of: turns) ?? 0)", for: "smtp")
        let turns = turns.map { dialect == .lmtp ? $0.replacing("EHLO", with: "LHLO") : $0 }
        let whole = Self.run(turns, dialect) { driver, turn in driver.send(turn) }
        #expect(whole.last == .close)
        for size in 1...7 {
            #expect(Self.run(turns, dialect) { driver, turn in driver.send(turn, inPiecesOf: size) } == whole)
        }
        for cut in 1..<(turns.map(\.utf8.count).max() ?? 1) {
            let entries = Self.run(turns, dialect) { driver, turn in
                driver.send(Array(turn.utf8.prefix(cut)))
                driver.send(Array(turn.utf8.dropFirst(cut)))
            }
            #expect(entries == whole, "cut at \(cut)")
        }
    }

    private static func run(
        _ turns: [String],
        _ dialect: SMTPServerSession.Dialect,
        send: (inout ServerDriver, String) -> Void
    ) -> [ServerDriver.Entry] {
        // The last dialogue fits in 44 bytes before the content, but its content is too large.
        var driver = ServerDriver(dialect, maximumSize: 44, greets: false)
        for turn in turns { send(&driver, turn) }
        return driver.settledEntries
    }
}
