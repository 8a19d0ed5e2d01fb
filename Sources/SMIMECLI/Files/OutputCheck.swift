import ByteStreams
import Foundation
import SMIMEAgent
import SMIMEStore

/// Checks that outputs do not replace the inputs of a command, its other outputs, or files with private keys, and that they
/// are not inside the store.
struct OutputCheck {
    private let location: StoreLocation
    private let files: [String]

    /// - Parameter files: the files that the command reads; nil and standard input are ignored.
    init(_ location: StoreLocation, reading files: [String?]) {
        self.location = location
        self.files = files.compactMap(\.self)
    }

    /// Rejects the command if an output at one of `targets` would replace such a file or be inside the store. The targets nil
    /// and `-` are standard output.
    ///
    /// - Parameter replaceable: the kinds of private-key files that the output may replace, because the output is of the same
    ///   kind.
    /// - Throws: `Failure` with status 64
    func check(_ targets: [String?], replacing replaceable: [SecretFileKind] = []) throws {
        let targets = targets.compactMap(\.self).filter { $0 != "-" }
        guard !targets.isEmpty else { return }
        // Only existing files are compared: a new file cannot be one of the inputs.
        lazy var known = Dictionary(files.compactMap { path in FileIdentity(path).map { ($0, path) } }) { $1 }
        let folders = try [location.dataFolder, location.keyFolder].map { try OutputFile.absolutePath(of: $0) }
        var paths: Set<String> = []
        for target in targets {
            let path = try OutputFile.absolutePath(of: target)
            if let file = FileIdentity(path).flatMap({ known[$0] }) {
                throw Failure(.usage, "\(file): the output would replace the input")
            }
            guard !folders.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) else {
                throw Failure(.usage, "\(target): the output would be inside the store")
            }
            try PrivateKeyFile.check(target, replacing: replaceable)
            guard paths.insert(path).inserted else {
                throw Failure(.usage, "\(target): two outputs would overwrite each other")
            }
        }
    }
}
