import ByteStreams
import Foundation
import LibCrypto
import PKIX

/// The file with the key that seals the store key.
///
/// A new key is written beside the old one before the database changes, and replaces the old one afterwards. If the process
/// is killed in between, both files exist, and the database determines which one is right.
struct KeyFile {
    private static let magic = Array("smime-key-1\n".utf8)

    let folder: StoreFolder

    init(_ location: StoreLocation) { folder = StoreFolder(location: location) }

    var path: String { folder.location.keyFile }
    private var source: StoreKeySource { folder.location.keySource }
    private var successorPath: String { folder.location.keyFileSuccessor }

    /// The key in the file; nil if there is no file.
    ///
    /// - Throws: `.permissions`; `.cannotOpen`, also if the key program fails; `.corrupt`
    func key() throws(KeystoreError) -> SealingKey? {
        switch source {
        case .file, .home: return try read(path)
        case .credential: return try read(path, isChecked: false)
        case .program(let path):
            var bytes = try KeyProgram(path: path).output()
            defer { bytes.wipe() }
            return try parse(bytes.octets, from: path)
        }
    }

    /// The key that is about to replace `key()`; nil if no change is in progress or was interrupted.
    func successor() throws(KeystoreError) -> SealingKey? { source.isOurs ? try read(successorPath) : nil }

    /// Writes `key` as the key file of a store without a key file.
    func create(_ key: SealingKey) throws(KeystoreError) { try write(key, to: path) }

    /// Writes `key` beside the key file. The caller holds `StoreLock`.
    func prepare(_ key: SealingKey) throws(KeystoreError) { try write(key, to: successorPath) }

    /// Replaces the key file by its successor. The caller holds `StoreLock`, and has changed the database before.
    func replaceBySuccessor() throws(KeystoreError) { try folder.rename(successorPath, to: path) }

    /// Gives the key file a second name, under which it stays when its successor replaces it. The caller holds `StoreLock`.
    ///
    /// - Returns: the second name; nil if there is no key file, because it was lost.
    func keepCopy(at time: Date) throws(KeystoreError) -> String? {
        guard source.isOurs else { throw .notWritable(path: path) }
        let first = "\(path).old-\(time.fileStamp)"
        // The key may have been changed in the same second before.
        for name in [first] + (2...20).map({ "\(first)-\($0)" }) {
            if link(path, name) == 0 { return name }
            if errno == ENOENT { return nil }
            guard errno != EEXIST, access(name, F_OK) != 0 else { continue }
            // Some file systems have no hard links.
            guard let key = try read(path) else { return nil }
            try write(key, to: name)
            return name
        }
        throw .writeFailed(path: first, reason: String(cString: strerror(EEXIST)))
    }

    /// Removes the name that `keepCopy(at:)` returned, unless the key file was replaced, or may still be replaced because its
    /// successor exists.
    func removeCopy(_ name: String) {
        var (successor, current, kept) = (stat(), stat(), stat())
        guard lstat(successorPath, &successor) != 0, errno == ENOENT else { return }
        guard lstat(path, &current) == 0, lstat(name, &kept) == 0, current.st_ino == kept.st_ino else { return }
        unlink(name)
    }

    /// Removes the successor after an unsuccessful change. The caller holds `StoreLock`.
    func discardSuccessor() { if source.isOurs { unlink(successorPath) } }

    /// Removes the key file and its successor. The caller holds `StoreLock`, and has changed the database so that it needs
    /// neither.
    func remove() throws(KeystoreError) {
        guard source.isOurs else { return }
        discardSuccessor()
        guard unlink(path) == 0 || errno == ENOENT else {
            throw KeystoreError.writeFailed(path: path, reason: String(cString: strerror(errno)))
        }
    }

    private func write(_ key: SealingKey, to path: String) throws(KeystoreError) {
        guard source.isOurs else { throw .notWritable(path: self.path) }
        var secret = key.copied()
        defer { secret.wipe() }
        var bytes = Self.magic + secret
        defer { bytes.wipe() }
        try folder.createFile(path, holding: bytes)
    }

    /// - Parameter isChecked: whether the file must be private and belong to this user. A file of the service manager has
    ///   another owner and other rights.
    private func read(_ path: String, isChecked: Bool = true) throws(KeystoreError) -> SealingKey? {
        if isChecked, try !folder.inspect(path, isFolder: false) { return nil }
        let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            // Another process may have renamed the successor to the key file.
            guard code != ENOENT else { return nil }
            throw KeystoreError.cannotOpen(path: path, reason: String(cString: strerror(code)))
        }
        defer { close(descriptor) }
        // A file of the service manager may contain base64.
        var bytes = [UInt8](repeating: 0, count: 2 * (Self.magic.count + SealingKey.count))
        defer { bytes.wipe() }
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        return try parse(bytes.octets.extracting(first: max(0, count)), from: path)
    }

    /// The key in the bytes of a key file. The key of a credential or a key program may be encoded in base64.
    private func parse(_ bytes: Span<UInt8>, from path: String) throws(KeystoreError) -> SealingKey {
        if let key = Self.key(in: bytes) { return key }
        var text = [UInt8](bytes)
        defer { text.wipe() }
        guard !source.isOurs, let decoded = try? SecretBytes(base64: [text[...]][...]),
            let key = decoded.withBytes({ Self.key(in: $0) })
        else { throw KeystoreError.corrupt(path: path, detail: "is not a key file of smime") }
        return key
    }

    private static func key(in bytes: Span<UInt8>) -> SealingKey? {
        guard bytes.count == magic.count + SealingKey.count, bytes.has(magic) else { return nil }
        return SealingKey(bytes.extracting(magic.count...))
    }
}

/// Runs the program that prints the key which seals the store key.
package struct KeyProgram {
    /// How long the program may run.
    package static let timeout = Duration.seconds(10)
    /// The maximum length of the program's output in bytes. A key is far shorter.
    private static let maximumCount = 4096

    private let path: String

    package init(path: String) { self.path = path }

    /// The program's standard output. Its standard error is shown to the user.
    ///
    /// - Throws: `.cannotOpen` if the program cannot be run, fails, prints too much, or runs too long.
    package func output(within limit: Duration = timeout) throws(KeystoreError) -> [UInt8] {
        let program = BoundedProgram(path, maximumCount: Self.maximumCount, showsErrors: true)
        var result: (status: Int32, output: [UInt8])
        do { result = try program.run(until: .now + limit) } catch { throw failure(Self.sentence(error, limit)) }
        guard result.status == 0 else {
            result.output.wipe()
            throw failure("printed no key: it ended with status \(result.status)")
        }
        return result.output
    }

    private static func sentence(_ failure: BoundedProgram.Failure, _ limit: Duration) -> String {
        switch failure {
        case .notStarted(let code): "cannot be run: \(String(cString: strerror(code)))"
        case .timeLimit: "took longer than \(limit.components.seconds) seconds"
        case .printsTooMuch: "prints more than a key"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .lost: "was lost"
        }
    }

    private func failure(_ why: String) -> KeystoreError {
        .cannotOpen(path: path, reason: "the program of the key \(why)")
    }
}
