public import Foundation

/// Files that tests read: `certs/` of this package, and the corpora made by others that stand beside the checkout.
public enum Fixtures {
    /// The package's top folder.
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// Certificates and keys written by `scripts/make-certs`; certs/README.md says what each is for.
    public static let certs = root.appending(path: "certs")
    /// `../shared/corpora`, or nil where it is missing; tests that need it say that they were skipped.
    public static let corpora: URL? = {
        let folder = root.deletingLastPathComponent().appending(path: "shared/corpora")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// The bytes of `certs/NAME`.
    public static func cert(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: certs.appending(path: name)))
    }

    /// The bytes of a file below `corpora`.
    public static func corpus(_ name: String) throws -> [UInt8] {
        guard let corpora else { throw CocoaError(.fileNoSuchFile) }
        return try Array(Data(contentsOf: corpora.appending(path: name)))
    }
}

extension Date {
    /// When the certificates of `certs/` are judged.
    public static let judged = Date(timeIntervalSince1970: 1_793_491_200)  // 2026-11-01
    /// When old certificates are judged that have expired since.
    public static let in2020 = Date(timeIntervalSince1970: 1_590_969_600)  // 2020-06-01
}
