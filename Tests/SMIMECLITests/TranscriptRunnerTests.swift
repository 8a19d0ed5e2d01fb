import Foundation
import TestSupport
import Testing

/// Tests of the runner itself: a wrong statement in a transcript must become an issue, or transcripts would prove nothing.
@Suite struct TranscriptRunnerTests {
    @Test func `every step of a transcript works`() throws {
        let found = try findings(
            """
            # a comment with an apostrophe: it's fine
            ! sh 'echo out; echo "oh dear" >&2; exit 3'
            status 3
            stdout out
            stderr 'oh dear'
            ! stdout oh
            stdout > kept
            cmp kept expected
            ! cmp kept data
            exists kept
            ! exists missing
            stdin data
            cat
            stdout-is data
            ! stderr .
            sh 'chmod 640 data'
            mode 640 data
            truncate data 3
            corrupt data 0
            corrupt data -1
            sh 'od -An -c data'
            stdout 'n   n   d'
            env GREETING='hello world'
            sh 'echo "$GREETING"; pwd; echo $HOME $TMPDIR $SMIME_HOME'
            stdout 'hello world'
            stdout $WORK
            sh 'cat crlf | od -An -c'
            stdout '\\r  \\n'
            mkdir a/b
            write a/b/c.json '{"a": [{"b": "x"}, {"b": true, "n": null}], "n": 1.5}'
            cat a/b/c.json
            json a.0.b x
            json a.1.b true
            json a.1.n null
            json a.count 2
            json n 1.5
            ! json a.7
            exists $CERTS/alice/cert.pem
            -- expected --
            out
            -- data --
            one
            two
            -- crlf crlf --
            line
            """
        )
        #expect(found.isEmpty, "\(found)")
    }

    @Test(arguments: [
        "false",
        "! true",
        "true; status 1",
        "echo a; stdout b",
        "echo a; ! stdout a",
        "echo a; ! stdout .",
        "true; stdout .",
        "echo a; stdout-is file",
        "cmp file other",
        "! cmp file file",
        "exists missing",
        "! exists file",
        "mode 123 file",
        #"echo '{"a": 1}'; json a 2"#,
        #"echo '{"a": 1}'; ! json a"#,
        "! sh 'kill -SEGV $$'",
        "! sh 'echo ERROR: AddressSanitizer >&2 && exit 1'",
        "no-such-program-anywhere",
        "! no-such-program-anywhere",
        "status 0",
        "stdout",
    ])
    func `a failed expectation is reported with its line`(_ session: String) throws {
        let lines = session.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        let found = try findings(lines.joined(separator: "\n") + "\n-- file --\nx\n-- other --\ny\n")
        #expect(found.map(\.line) == [lines.count])
    }

    @Test func `a session ends after an unexpected failure`() throws {
        #expect(try findings("false\nstatus 2\nexists nothing\n").count == 1)
    }

    @Test func `a session ends where a tool is missing`() throws {
        #expect(try findings("needs no-such-program-anywhere\nfalse\n").isEmpty)
    }

    private func findings(_ text: String) throws -> [TranscriptRunner.Finding] {
        let url = FileManager.default.temporaryDirectory.appending(path: "transcript-\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: url) }
        try text.write(to: url, atomically: true, encoding: .utf8)
        var runner = try TranscriptRunner(try Transcript(contentsOf: url), tools: [:])
        return try runner.review()
    }
}
