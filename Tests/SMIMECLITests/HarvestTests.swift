import Foundation
import TestSupport
import Testing

@Suite struct HarvestTests {
    private static let hasTime = ["/usr/bin/time", "/bin/time"].contains(where: FileManager.default.isExecutableFile)

    @Test(.enabled(if: hasTime, "GNU time is not installed"))
    func `memory does not grow with the size of the mailbox`() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let message = "From x@example.com Sat Nov 21 02:40:42 2026\nFrom: x@example.com\nSubject: y\n\n"
        let body = String(repeating: String(repeating: "x", count: 72) + "\n", count: 55)
        let thousand = Data(String(repeating: message + body + "\n", count: 1000).utf8)
        let small = try peak(of: thousand, times: 1, in: folder)
        let large = try peak(of: thousand, times: 20, in: folder)
        #expect(large - small < 8 << 20 || Tool.isSanitized, "\(small) and \(large) bytes")

        // Long messages are released before their batch is stored.
        let long = Data((message + String(repeating: body, count: 200) + "\n").utf8)
        let one = try peak(of: long, messages: 1, times: 1, in: folder)
        let many = try peak(of: long, messages: 1, times: 80, in: folder)
        #expect(many - one < 24 << 20 || Tool.isSanitized, "\(one) and \(many) bytes")
    }

    /// The maximum resident set while a mailbox, made of `part` repeated, is harvested from a file and from a pipe.
    private func peak(of part: Data, messages: Int = 1000, times: Int, in folder: URL) throws -> Int {
        let box = folder.appending(path: "box-\(times)")
        try (0..<times).reduce(into: Data()) { data, _ in data += part }.write(to: box)
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_HOME"] = folder.appending(path: "store").path
        environment["TMPDIR"] = folder.path
        var runner = CommandRunner(try Tool.smime().path, environment: environment, folder: folder)
        runner.measuresMemory = true
        let file = try runner.run(["harvest", box.path])
        let pipe = try runner.run(["harvest", "-"], input: .file(box))
        for result in [file, pipe] {
            #expect(result.status == 0, "\(result.errorText)")
            #expect(result.text.contains(times * messages == 1 ? "1 message" : "\(times * messages) messages"))
        }
        return max(try #require(file.peakMemory), try #require(pipe.peakMemory))
    }
}
