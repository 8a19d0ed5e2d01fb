public import Foundation

/// Programs that the tests run.
public enum Tool {
    /// The command built together with the tests, or $SMIME_TEST_BINARY.
    public static func smime() throws -> URL {
        if let path = ProcessInfo.processInfo.environment["SMIME_TEST_BINARY"] { return URL(filePath: path) }
        let candidates = [
            Bundle.main.bundleURL.appending(path: "smime"),
            Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "smime"),
            Fixtures.root.appending(path: ".build/debug/smime"),
        ]
        for case let url? in candidates where FileManager.default.isExecutableFile(atPath: url.path) { return url }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSLocalizedDescriptionKey: "no smime beside the tests"])
    }

    /// Whether the command was built with a sanitizer. Such a command reserves terabytes of address space and keeps freed
    /// memory, so its memory use is meaningless.
    public static let isSanitized: Bool = {
        let environment = ["ASAN_OPTIONS": "help=1", "TSAN_OPTIONS": "help=1"]
        guard let result = try? CommandRunner(smime().path, environment: environment).run(["--version"]) else {
            return false
        }
        return result.text.contains("Available flags for") || result.errorText.contains("Available flags for")
    }()
}
