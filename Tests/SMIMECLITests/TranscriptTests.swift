import Foundation
import TestSupport
import Testing

@Suite struct TranscriptTests {
    @Test(arguments: try Transcript.all(in: Fixtures.root.appending(path: "Tests/SMIMECLITests/Transcripts")))
    func `every command session matches its transcript`(_ transcript: Transcript) async throws {
        try await TranscriptRunner(transcript, tools: ["smime": try Tool.smime()]).run()
    }
}
