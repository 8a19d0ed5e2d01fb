public import Foundation

/// A temporary folder that no other user can read. It is removed with this value.
public struct TemporaryFolder: ~Copyable, Sendable {
    public let url: URL

    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "smime-test-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        guard (try? FileManager.default.removeItem(at: url)) == nil else { return }
        // A test may have removed permissions.
        _ = try? CommandRunner("chmod").run(["-R", "u+rwX", url.path])
        try? FileManager.default.removeItem(at: url)
    }

    public var path: String { url.path }

    /// The file or folder `name` in it.
    public func file(_ name: String) -> URL { url.appending(path: name) }
}
