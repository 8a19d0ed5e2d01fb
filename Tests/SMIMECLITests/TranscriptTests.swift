import Foundation
import TestSupport
import Testing

@Suite struct TranscriptTests {
    @Test(arguments: try Transcript.all(in: Fixtures.root.appending(path: "Tests/SMIMECLITests/Transcripts")))
    func `A golden session goes as its transcript says`(_ transcript: Transcript) throws {
        var runner = try TranscriptRunner(transcript, tools: ["smime": try Tool.smime()])
        try runner.run()
    }
}
