import Foundation
import TestSupport
import Testing

/// ML-DSA and ML-KEM with libcrypto 3.5, whose packages scripts/test fetches into .build/libcrypto-3.5.
@Suite struct PostQuantumTests {
    @Test func `with libcrypto 3.5 the command signs with ML-DSA, encrypts to ML-KEM and reads mail of other programs`()
        async throws
    {
        guard FileManager.default.fileExists(atPath: Fixtures.root.appending(path: ".build/libcrypto-3.5").path) else {
            return print("note: no .build/libcrypto-3.5 (scripts/test fetches it): ML-DSA and ML-KEM are not tested")
        }
        var runner = CommandRunner(Fixtures.root.appending(path: "scripts/try-libcrypto-3.5").path)
        runner.timeLimit = .seconds(600)
        let result = try await BlockingWork.run { [runner] in try runner.run([try Tool.smime().path]) }
        if result.status == 77 { return print("note: \(result.errorText.prefix(200))") }
        print(result.text)
        #expect(result.status == 0, "\(result.errorText)")
    }
}
