public import Foundation

/// Files for tests: `certs/` in this package, and the corpora made by other projects beside the checkout.
public enum Fixtures {
    /// The package's top folder.
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// Certificates and keys written by `scripts/make-certs`; certs/README.md says what each is for.
    public static let certs = root.appending(path: "certs")
    /// `../shared/corpora`, or nil if it is missing; tests that need it then report that they were skipped.
    public static let corpora: URL? = {
        let folder = root.deletingLastPathComponent().appending(path: "shared/corpora")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// The bytes of `certs/NAME`.
    public static func cert(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: certs.appending(path: name)))
    }

    /// The bytes of a file in `corpora`.
    public static func corpus(_ name: String) throws -> [UInt8] {
        guard let corpora else { throw CocoaError(.fileNoSuchFile) }
        return try Array(Data(contentsOf: corpora.appending(path: name)))
    }
}

extension Date {
    /// The time at which the certificates in `certs/` are judged.
    public static let judged = Date(timeIntervalSince1970: 1_793_491_200)  // 2026-11-01
    /// The time at which old certificates are judged that have expired since.
    public static let in2020 = Date(timeIntervalSince1970: 1_590_969_600)  // 2020-06-01
}
