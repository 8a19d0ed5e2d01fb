import InternetMessage
import TestSupport
import Testing

@Suite struct EntityControlsTests {
    @Test(arguments: [
        ("", true), ("Subject: x\n\nbody", true), ("Subject: x\r\n\r\n\0", true), ("Subject: x\n\n\0", true),
        ("Subject: \u{1B}$B x\n", true), ("Subject: \tx\n", true), ("Subject: ü\n", true),
        ("Subject: \0\n\n", false), ("Subject: x\nTo: \u{7F}\n\n", false), ("A: x\r\n\u{1}\r\n\r\n", false),
        ("A: x\r\r\n\u{1}", false), ("\nHello\n", true), ("\n\nHello\u{2}", false), ("\r\n\u{2}", false),
        ("\r\u{2}", false),
    ])
    func `a header has no control characters`(head: String, isClean: Bool) {
        #expect(EntityControls.areAbsent(in: head.bytes) == isClean, "\(head.debugDescription)")
    }

    @Test func `only the start is checked`() {
        let long = "Subject: " + String(repeating: "x", count: EntityControls.examinedCount - 9)
        #expect(EntityControls.areAbsent(in: (long + "\0").bytes))
        #expect(!EntityControls.areAbsent(in: (long.dropLast() + "\0").bytes))
    }

    @Test func `noise has control characters`() {
        var random = SeededGenerator(1)
        let passed = (0..<10_000)
            .count { _ in
                let noise = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
                return EntityControls.areAbsent(in: "A:".bytes + noise)
            }
        #expect(passed < 30)
    }
}
