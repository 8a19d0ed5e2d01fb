import ByteStreams
import PKIX
import SMIMEAgent

extension KeyMaterial {
    /// Rejects a file of keys or certificates where a message is expected: it is not a damaged message.
    ///
    /// - Parameter path: the file's name on the command line.
    static func reject(in source: any ByteSource, _ path: String) throws {
        guard var bytes = try? InputFile.bytes(of: source, at: path) else { return }
        // They may contain an unencrypted private key.
        defer { bytes.wipe() }
        guard let items = try? read(bytes), let first = items.first else { return }
        let file = path == "-" ? "FILE" : VerdictStep.argument(path)
        throw Failure(
            .badData,
            "\(InputFile.name(path)): \(items.count == 1 ? first.kind : kinds(of: items)), and not a message",
            hints: ["to see what is in it: smime inspect \(file); to use it: smime import \(file)"]
        )
    }

    /// The kinds of several items in words.
    private static func kinds(of items: [KeyMaterial]) -> String {
        let kinds = Set(items.map(\.kind))
        guard kinds.count == 1, let kind = kinds.first else { return "keys, certificates or revocation lists" }
        return "\(kind.split(separator: " ").dropFirst().joined(separator: " "))s"
    }

    /// The kind of the item in words.
    private var kind: String {
        switch self {
        case .certificate: "a certificate"
        case .certificateList: "a revocation list"
        case .pkcs12: "a PKCS#12 file"
        case .privateKey: "a private key"
        }
    }
}
