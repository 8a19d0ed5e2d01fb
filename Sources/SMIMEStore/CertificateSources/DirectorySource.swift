import Foundation
import PKIX

/// A local or mounted folder with certificates in files that are named after addresses.
///
/// `bob@example.org.pem` has Bob's certificate; `@example.org.pem` has the certificate for all of example.org. The address in
/// a file name is in lower case with A-labels, or exactly as in the mail; `endings` has the allowed extensions. PEM and
/// PKCS#7 files may have several certificates, including those of CAs.
package struct DirectorySource: CertificateSource {
    /// The allowed extensions of file names.
    package static let endings = ["pem", "crt", "cer", "der", "p7c", "p7b"]
    /// The default time to wait for a mounted folder.
    package static let standardTimeLimit = Duration.seconds(2)
    private static let maximumFileSize = 1 << 20

    /// The path of the folder.
    package let path: String
    /// How long reading may take. The folder may be on a file server.
    package let timeLimit: Duration
    /// `directory`
    package var kind: KnownRecipient.Source { .directory }

    package init(path: String, timeLimit: Duration = standardTimeLimit) {
        self.path = path
        self.timeLimit = timeLimit
    }

    /// Reads the files that are named after `addresses`, which include the domains to look up.
    package func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer {
        let folder = try open()
        defer { close(folder) }
        var answer = SourceAnswer()
        for address in addresses {
            for name in Self.fileNames(for: address) { read(name, in: folder, for: address, &answer) }
        }
        return answer
    }

    /// The path of the folder, if the folder can be opened.
    package func state() throws(SourceOutage) -> String {
        close(try open())
        return path
    }

    private func open() throws(SourceOutage) -> Int32 {
        let folder = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
        guard folder >= 0 else { throw SourceOutage("\(path): \(String(cString: strerror(errno)))") }
        guard faccessat(folder, ".", X_OK, 0) == 0 else {
            defer { close(folder) }
            throw SourceOutage("\(path): \(String(cString: strerror(errno)))")
        }
        return folder
    }

    /// The names of files that can have certificates of `address`, each once. Empty if the address would lead to a file
    /// outside the folder.
    private static func fileNames(for address: AddressScope) -> [String] {
        var seen: Set<String> = []
        return [address.key, address.text].filter { stem in
            !stem.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 } && !stem.hasPrefix(".")
                && seen.insert(stem).inserted
        }.flatMap { stem in endings.map { "\(stem).\($0)" } }
    }

    /// Adds the certificates in the file `name`. Mail to the address waits if the file is there and cannot be read as a whole:
    /// it may be half-written, or on a disk that is not mounted.
    private func read(_ name: String, in folder: Int32, for address: AddressScope, _ answer: inout SourceAnswer) {
        let file = "\(path)/\(name)"
        // Opening a named pipe must not block.
        let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            if Self.isMissing(name, in: folder, code) { return }
            answer.note("\(file): \(String(cString: strerror(code)))", about: address)
            return
        }
        defer { close(descriptor) }
        do throws(SourceOutage) {
            let (certificates, isComplete) = KeyMaterial.certificates(in: try Self.content(of: descriptor))
            answer.add(certificates, for: address, from: kind, at: file)
            if certificates.isEmpty { throw SourceOutage("it has no certificate that can be read") }
            if !isComplete { throw SourceOutage("a part of it is not a certificate that can be read") }
        } catch { answer.note("\(file): \(error.reason)", about: address) }
    }

    /// Whether opening the file `name` failed with `code` because nothing in `folder` has this name. A symbolic link whose
    /// target is missing has the name.
    private static func isMissing(_ name: String, in folder: Int32, _ code: Int32) -> Bool {
        var status = stat()
        switch code {
        case ENOENT: return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT
        case ENAMETOOLONG, EILSEQ: return true
        default: return false
        }
    }

    private static func content(of descriptor: Int32) throws(SourceOutage) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SourceOutage("not a regular file")
        }
        guard status.st_size <= maximumFileSize else { throw SourceOutage("too big for certificates") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        do { return [UInt8](try handle.read(upToCount: maximumFileSize) ?? Data()) } catch {
            throw SourceOutage("\(error)")
        }
    }
}

extension SourceAnswer {
    /// Adds `reason` to the outage of `address`, which may have several files.
    fileprivate mutating func note(_ reason: String, about address: AddressScope) {
        let earlier = outages[address].map { "\($0.reason); " } ?? ""
        outages[address] = SourceOutage(earlier + reason)
    }
}
