import ByteStreams
import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The folder of the system's trust anchors, with the file names that `openssl rehash` creates.
///
/// Only the issuers that a chain names are searched for in the folder. SSL_CERT_DIR and SSL_CERT_FILE are ignored.
public struct SystemAnchors: Hashable, Sendable {
    /// The folder's path.
    public let folder: String

    public init(folder: String = "/etc/ssl/certs") { self.folder = folder }

    /// Whether the folder can be read.
    package var isReadable: Bool { FileManager.default.isReadableFile(atPath: folder) }

    /// The maximum number of files with the same hash that are read.
    private static let maximumCollisions = 16

    /// The trust anchors with this subject.
    package func certificates(named subject: DistinguishedName) -> [Certificate] {
        guard let hash = subject.systemHash else { return [] }
        let digits = String(hash, radix: 16)
        let name = String(repeating: "0", count: 8 - digits.count) + digits
        var found: [Certificate] = []
        for number in 0..<Self.maximumCollisions {
            guard let certificates = Self.certificates(in: "\(folder)/\(name).\(number)") else { break }
            found += certificates.filter { $0.subject.matches(subject) }
        }
        return found
    }

    /// The contents of recently read files, valid as long as the files are unchanged.
    private static let recent = BoundedCache<FileState, [Certificate]>(capacity: 64)
    /// The size in bytes of the largest file whose certificates are cached.
    private static let keptSize = 64 << 10

    /// The certificates in the file at `path`; empty if the file is malformed or cannot be read, nil if it cannot be opened.
    private static func certificates(in path: String) -> [Certificate]? {
        let state = FileState(path)
        if let state, let known = recent[state] { return known }
        guard let file = try? FileSource(path: path) else { return nil }
        guard let bytes = try? file.bytes(in: 0..<file.count), let items = try? KeyMaterial.read(bytes) else {
            return []
        }
        let certificates = items.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
        // A file that was replaced during the reading is read again the next time.
        if let state, state == FileState(path), state.size <= keptSize { recent[state] = certificates }
        return certificates
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
