import ByteStreams
import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The folder of the system's trust anchors, with the file names that `openssl rehash` creates.
///
/// Only the issuers that a chain names are searched for in the folder. SSL_CERT_DIR and SSL_CERT_FILE are ignored. A folder
/// that does not exist has no anchors.
public struct SystemAnchors: Hashable, Sendable {
    /// The folder's path.
    public let folder: String

    public init(folder: String = "/etc/ssl/certs") { self.folder = folder }

    /// Whether the folder can be read.
    package var isReadable: Bool { FileManager.default.isReadableFile(atPath: folder) }

    /// The maximum number of files with the same hash that are read.
    private static let maximumCollisions = 16

    /// The trust anchors with one subject.
    package struct Found {
        package fileprivate(set) var certificates: [Certificate] = []
        /// The path of a file that could not be read as a whole, so that further anchors may exist; nil if all were read.
        package fileprivate(set) var unreadable: String?
    }

    /// The trust anchors with this subject.
    package func certificates(named subject: DistinguishedName) -> Found {
        var found = Found()
        guard let hash = subject.systemHash else { return found }
        let digits = String(hash, radix: 16)
        let name = String(repeating: "0", count: 8 - digits.count) + digits
        for number in 0..<Self.maximumCollisions {
            let path = "\(folder)/\(name).\(number)"
            guard let (certificates, isComplete) = Self.certificates(in: path) else { break }
            found.certificates += certificates.filter { $0.subject.matches(subject) }
            if !isComplete { found.unreadable = found.unreadable ?? path }
        }
        return found
    }

    /// The contents of recently read files, valid as long as the files are unchanged.
    private static let recent = BoundedCache<FileState, [Certificate]>(capacity: 64)
    /// The size in bytes of the largest file whose certificates are cached.
    private static let keptSize = 64 << 10

    /// The certificates in the file at `path`, and whether all of the file could be read; nil if there is certainly no file.
    private static func certificates(in path: String) -> (certificates: [Certificate], isComplete: Bool)? {
        let state = FileState(path)
        if let state, let known = recent[state] { return (known, true) }
        guard let file = try? FileSource(path: path), let bytes = try? file.bytes(in: 0..<file.count) else {
            return FileSource.mayExist(path) ? ([], false) : nil
        }
        let (certificates, isComplete) = KeyMaterial.certificates(in: bytes)
        // A file that was replaced during the reading is read again the next time.
        if isComplete, let state, state == FileState(path), state.size <= keptSize { recent[state] = certificates }
        return (certificates, isComplete)
    }

    /// The subject hashes in the file names of the folder; empty if there is no folder, nil if the folder cannot be read.
    package var hashes: Set<UInt32>? {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return Set(names.compactMap { $0.utf8.count > 9 ? UInt32($0.prefix(8), radix: 16) : nil })
        } catch let error as CocoaError where [.fileReadNoSuchFile, .fileNoSuchFile].contains(error.code) {
            return []
        } catch {
            return nil
        }
    }
}

extension DistinguishedName {
    /// The hash of this subject in the file names of a folder of trust anchors, as openssl-rehash(1) computes it; nil if
    /// libcrypto cannot read the name.
    package var systemHash: UInt32? { Libcrypto.nameHash(der) }
}
