import ByteStreams
import Foundation
import LibCrypto
import PKIX
import SMIMEAgent

/// A file that the command line names; `-` is standard input.
enum InputFile {
    /// Opens the file for reading at any position.
    ///
    /// - Parameters:
    ///   - mayBeSecret: whether the file may contain an unencrypted private key.
    ///   - limit: the most bytes that the caller accepts; see `Input.open`.
    static func open(
        _ path: String,
        mayBeSecret: Bool = false,
        limit: Input.Limit? = nil
    ) throws -> any ByteSource {
        guard path == "-" else { return try Input.open(path: path, mayBeSecret: mayBeSecret, limit: limit) }
        noteTerminal(alternative: ", or name a file on the command line")
        return try Input.standardInput(mayBeSecret: mayBeSecret, limit: limit)
    }

    /// The most bytes of a detached signature that are read from a pipe or device.
    private static let maximumSignature = 64 << 20

    /// Opens a file with a detached signature.
    ///
    /// - Throws: `Failure` with status 65 if a pipe or device has more than `maximumSignature` bytes.
    static func signature(_ path: String) throws -> any ByteSource {
        let source = try open(path) { _ in maximumSignature }
        let isFile = path != "-" && (try? FileSource(path: path)) != nil
        guard source.count <= maximumSignature || isFile else {
            throw Failure(.badData, "\(name(path)): too big for a detached signature")
        }
        return source
    }

    /// Standard input, for verbs that read nothing else.
    static func standardInput() throws -> any ByteSource {
        noteTerminal(alternative: "")
        return try Input.standardInput()
    }

    /// Says that the command waits for input, if standard input is a terminal.
    static func noteTerminal(alternative: String) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        Console.note("reading from the terminal: end the input with Ctrl-D\(alternative)")
    }

    /// The file's name in messages.
    static func name(_ path: String) -> String { InputName.shown(path) }

    /// All bytes of a file of keys or certificates.
    ///
    /// - Throws: `AgentError.tooBigForKeys`
    static func bytes(of path: String) throws -> [UInt8] {
        try bytes(of: open(path) { _ in KeyMaterial.maximumFileBytes }, at: path)
    }

    /// All bytes of a file of keys or certificates that is already open.
    static func bytes(of source: any ByteSource, at path: String) throws -> [UInt8] {
        guard source.count <= KeyMaterial.maximumFileBytes else { throw AgentError.tooBigForKeys(file: path) }
        return try source.bytes(in: 0..<source.count)
    }
}

/// Files with private keys.
enum PrivateKeyFile {
    /// The kind of the regular file at `path`; nil if the file contains no private keys, or cannot be read.
    private static func kind(at path: String) -> SecretFileKind? {
        guard FileIdentity(path) != nil, let source = try? Input.open(path: path, mayBeSecret: true),
            var head = try? source.bytes(in: 0..<min(source.count, SecretFileKind.headCount))
        else { return nil }
        defer { head.wipe() }
        if let kind = SecretFileKind(head: head) { return kind }
        // In a PEM file, a key may follow many certificates.
        if source.count > head.count, KeyMaterial.isPEM(head), var all = try? InputFile.bytes(of: source, at: path) {
            defer { all.wipe() }
            if KeyMaterial.mayHoldPrivateKey(all) { return .keys }
        }
        // The contents of a profile that another program signed, or wrote in binary form, may not be recognized, so the
        // file's extension decides.
        return path.lowercased().hasSuffix(".mobileconfig") && !head.isEmpty ? .profile : nil
    }

    /// Rejects an output at `target` that would destroy a file with private keys, unless the file is of a `replaceable` kind.
    ///
    /// - Throws: `Failure` with status 64
    static func check(_ target: String, replacing replaceable: [SecretFileKind]) throws {
        guard let kind = kind(at: target), !replaceable.contains(kind) else { return }
        throw Failure(
            .usage,
            "\(target): \(kind.words), which the output would overwrite",
            hints: ["write to another file, or move this one away first"]
        )
    }
}

extension SecretFileKind {
    /// The kind as messages name it.
    fileprivate var words: String {
        switch self {
        case .accountBackup: "is a backup of accounts with their private keys"
        case .keys: "holds a private key"
        case .profile: "is a configuration profile, and may hold private keys"
        case .storeCopy: "is a database, and may be a copy of a store with its private keys"
        }
    }
}
