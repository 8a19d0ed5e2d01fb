import ByteStreams
import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The folder of the system's trust anchors, hashed as `openssl rehash` does it.
///
/// Read only where a chain asks for an issuer by name. SSL_CERT_DIR and SSL_CERT_FILE do not count.
public struct SystemAnchors: Hashable, Sendable {
    /// The folder's path.
    public let folder: String

    public init(folder: String = "/etc/ssl/certs") { self.folder = folder }

    /// Whether the folder can be read at all.
    package var isReadable: Bool { FileManager.default.isReadableFile(atPath: folder) }

    /// The files with one hash that are looked at.
    private static let maximumCollisions = 16

    /// The anchors with this subject.
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

    /// What files of late hold, as long as they are what they were.
    private static let recent = BoundedCache<FileState, [Certificate]>(capacity: 64)
    /// The largest file whose certificates are kept, in bytes.
    private static let keptSize = 64 << 10

    /// The certificates in the file at `path`, none where it cannot be understood; nil if it cannot be opened.
    private static func certificates(in path: String) -> [Certificate]? {
        let state = FileState(path)
        if let state, let known = recent[state] { return known }
        guard let file = try? FileSource(path: path) else { return nil }
        guard let bytes = try? file.bytes(in: 0..<file.count), let items = try? KeyMaterial.read(bytes) else {
            return []
        }
        let certificates = items.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
        // A file that was exchanged in between is read again the next time.
        if let state, state == FileState(path), state.size <= keptSize { recent[state] = certificates }
        return certificates
    }

    /// The hashes of subjects that files of the folder are named by; nil if the folder is there and cannot be read.
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
    /// The hash in the file names of certificates with this subject in a folder of anchors, as openssl-rehash(1) makes them; nil
    /// if libcrypto cannot read the name.
    package var systemHash: UInt32? { Libcrypto.nameHash(der) }
}
