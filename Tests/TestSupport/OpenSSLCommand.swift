public import Foundation
public import Testing

/// The openssl command in its own folder: the reference for everything it supports.
public struct OpenSSLCommand: ~Copyable {
    private let temporary: TemporaryFolder

    public init() throws { temporary = try TemporaryFolder() }

    public var folder: URL { temporary.url }

    /// Runs `openssl cms ARGUMENTS` with `input`, byte for byte, and returns the content of its `-out` file.
    public func cms(
        _ arguments: String,
        input: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [UInt8] {
        try run("cms -binary \(arguments)", input: input, sourceLocation: sourceLocation)
    }

    /// Runs `openssl ARGUMENTS` with `input` and returns the content of its `-out` file.
    public func run(
        _ arguments: String,
        input: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [UInt8] {
        let (source, target) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(input).write(to: source)
        var words = arguments.split(separator: " ").map(String.init)
        // After the command's name, because certificates must be last.
        words.insert(contentsOf: ["-in", source.path, "-out", target.path], at: 1)
        var runner = CommandRunner("openssl", folder: folder)
        runner.timeLimit = .seconds(120)
        let result = try runner.run(words)
        try #require(result.status == 0, "openssl: \(result.errorText)", sourceLocation: sourceLocation)
        return try Array(Data(contentsOf: target))
    }
}
