public import Foundation
public import Testing

/// The openssl command in a folder of its own: the oracle for everything it can do.
public struct OpenSSLCommand: ~Copyable {
    private let temporary: TemporaryFolder

    public init() throws { temporary = try TemporaryFolder() }

    public var folder: URL { temporary.url }

    /// Runs `openssl cms ARGUMENTS` over `input`, byte for byte, and returns what it wrote to `-out`.
    public func cms(
        _ arguments: String,
        input: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [UInt8] {
        try run("cms -binary \(arguments)", input: input, sourceLocation: sourceLocation)
    }

    /// Runs `openssl ARGUMENTS` over `input` and returns what it wrote to `-out`.
    public func run(
        _ arguments: String,
        input: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [UInt8] {
        let (source, target) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(input).write(to: source)
        var words = arguments.split(separator: " ").map(String.init)
        // Behind the command's name, as certificates come last.
        words.insert(contentsOf: ["-in", source.path, "-out", target.path], at: 1)
        var runner = CommandRunner("openssl", folder: folder)
        runner.timeLimit = .seconds(120)
        let result = try runner.run(words)
        try #require(result.status == 0, "openssl: \(result.errorText)", sourceLocation: sourceLocation)
        return try Array(Data(contentsOf: target))
    }
}
