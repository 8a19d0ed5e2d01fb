import Foundation

/// Stores inputs as seeds for the fuzz targets, in the folder $SMIME_TEST_SEEDS.
public enum Seeds {
    private static let folder = ProcessInfo.processInfo.environment["SMIME_TEST_SEEDS"]

    public static func keep(_ bytes: [UInt8], as name: String, for target: String) throws {
        guard let folder, bytes.count <= 65_536 else { return }
        let url = URL(filePath: folder).appending(path: target)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(bytes).write(to: url.appending(path: name))
    }
}
