import Foundation
import TestSupport
import Testing

/// The openssl command in a folder of its own: the oracle for everything it can do.
struct OpenSSLCommand: ~Copyable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "smime-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs `openssl cms ARGUMENTS` over `input` and returns what it wrote to `-out`.
    func cms(_ arguments: String, input: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        let (source, target) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(input).write(to: source)
        let words = arguments.split(separator: " ").map(String.init)
        var runner = CommandRunner("openssl", folder: folder)
        runner.timeLimit = .seconds(120)
        let result = try runner.run(["cms", "-binary", "-in", source.path, "-out", target.path] + words)
        try #require(result.status == 0, "openssl: \(result.errorText)", sourceLocation: sourceLocation)
        return try Array(Data(contentsOf: target))
    }
}
