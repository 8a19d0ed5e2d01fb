import ByteStreams
import Foundation
package import PKIX
import SMIMEStore
import Synchronization

/// A folder of revocation lists, which another program keeps up to date.
struct RevocationFolder {
    let path: String

    /// The most bytes of lists, and the most files, that are read.
    private static let (maximumCount, maximumFiles) = (128 << 20, 1000)

    /// Every list in the folder. Files whose names begin with a dot are ignored. These are ignored with a warning: files that are
    /// no revocation list, and files beyond the limits. If the folder or a list in it cannot be read any more, or a file is
    /// gone, the lists that this process read there before are used, too: another program may be writing the file.
    ///
    /// - Throws: `SettingError.folderUnreadable` if the folder cannot be read, and this process has kept no lists from it.
    func lists(warn: (String) -> Void) throws(SettingError) -> FiledRevocationLists {
        let known = Self.last.withLock { $0[path] }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path).sorted() } catch {
            let error = SettingError.folderUnreadable(path: path)
            guard var lists = known?.lists else { throw error }
            warn("\(error); the revocation lists that were read from it before are used")
            lists.unreadable.append("\(error)")
            return lists
        }
        let files = names.filter { !$0.hasPrefix(".") }
        let states = files.prefix(Self.maximumFiles).map { FileState("\(path)/\($0)") }
        if let known, known.files == files, known.states == states {
            known.warnings.forEach(warn)
            return known.lists
        }
        var warnings: [String] = []
        let (lists, isFinal) = read(files, known: known?.lists.lists ?? []) { warnings.append($0) }
        warnings.forEach(warn)
        // `states` is from before the reading, so a file that was replaced during the reading is read again the next
        // time.
        // After an error that may pass, the folder is read again. If the lists are too big to stay in memory, the ones that
        // were read before are dropped as well.
        if lists.lists.reduce(0, { $0 + $1.list.der.count }) > Self.keptCount {
            Self.last.withLock { $0[path] = nil }
        } else if isFinal {
            let contents = Contents(files: files, states: states, lists: lists, warnings: warnings)
            Self.last.withLock { last in
                if last.count >= Self.maximumFolders { last = [:] }
                last[path] = contents
            }
        }
        return lists
    }

    /// What was read from a folder, with the state of its files at that time.
    private struct Contents: Sendable {
        let files: [String]
        let states: [FileState?]
        let lists: FiledRevocationLists
        let warnings: [String]
    }

    /// What was read from the last folders, by their paths. A server asks for the lists for every message, but unchanged files
    /// are not read again.
    private static let last = Mutex<[String: Contents]>([:])
    /// The number of folders that are kept.
    private static let maximumFolders = 4
    /// The most bytes of lists that stay in memory for a folder.
    private static let keptCount = 32 << 20

    /// - Parameter known: the lists that were read from the folder before.
    /// - Returns: the lists, and whether reading unchanged files again would give the same.
    private func read(
        _ files: [String],
        known: [FiledRevocationList],
        warn: (String) -> Void
    ) -> (lists: FiledRevocationLists, isFinal: Bool) {
        if files.count > Self.maximumFiles {
            warn("\(path): of \(files.count) files only the first \(Self.maximumFiles) are read for revocation lists")
        }
        var left = Self.maximumCount
        var found = FiledRevocationLists()
        var isFinal = true
        func note(_ text: String, about file: String) {
            // The file may hold a newer list.
            found.unreadable.append(text)
            let earlier = known.filter { $0.path == file }
            found.lists += earlier
            warn(earlier.isEmpty ? text : "\(text); the list that was read from it before is used")
        }
        for name in files.prefix(Self.maximumFiles) {
            let file = "\(path)/\(name)"
            guard Self.mayBeRead(file) else {
                warn("\(file): is not a regular file, and is ignored")
                continue
            }
            do {
                let source = try FileSource(path: file)
                guard source.count <= left else {
                    let most = "\(Self.maximumCount >> 20) MiB"
                    warn("\(file): ignored, because at most \(most) of revocation lists are read from the folder")
                    continue
                }
                left -= source.count
                let bytes = try source.bytes(in: 0..<source.count)
                let before = found.lists.count
                do {
                    for case .certificateList(let list) in try KeyMaterial.read(bytes) {
                        found.lists.append(FiledRevocationList(path: file, list: list))
                    }
                    if found.lists.count == before { warn("\(file): ignored, because it contains no revocation list") }
                } catch {
                    let text = "\(file): not a readable revocation list"
                    if Self.mayBeList(name, bytes) { note(text, about: file) } else { warn(text) }
                }
            } catch {
                note("\(error)", about: file)
                // A change of the rights changes the file's state.
                if case StreamError.cannotOpen(_, EACCES) = error { continue }
                isFinal = false
            }
        }
        if keepLists(of: known, besides: files, in: &found, warn: warn) { isFinal = false }
        return (found, isFinal)
    }

    /// Adds the lists in `known` whose files are gone to `found`, unless they are out of date. A newer list of the same issuer
    /// replaces them when the lists are used.
    ///
    /// - Returns: whether there are such lists.
    private func keepLists(
        of known: [FiledRevocationList],
        besides files: [String],
        in found: inout FiledRevocationLists,
        warn: (String) -> Void
    ) -> Bool {
        let paths = Set(files.map { "\(path)/\($0)" })
        let (issuers, others) = (Set(found.all.map(\.issuer)), Set(found.all.map(\.fingerprint)))
        var hasKept = false
        for item in known where !paths.contains(item.path) && !others.contains(item.list.fingerprint) {
            guard let nextUpdate = item.list.nextUpdate, nextUpdate > .now else { continue }
            found.lists.append(item)
            hasKept = true
            guard !issuers.contains(item.list.issuer) else { continue }
            warn("\(item.path): is gone; the list in it is used until \(nextUpdate.day), or until a restart")
        }
        return hasKept
    }

    /// Whether the file `name`, which cannot be read as a list, may be one that is damaged or half-written.
    private static func mayBeList(_ name: String, _ bytes: [UInt8]) -> Bool {
        let ending = name.lowercased().split(separator: ".").last ?? ""
        let isNamed =
            ["crl", "der", "pem"].contains(ending) || ending.first == "r" && ending.dropFirst().allSatisfy(\.isNumber)
        return isNamed || bytes.first == 0x30 || bytes.starts(with: "-----BEGIN".utf8)
    }

    /// Whether `file` may be opened: it is not a pipe, device or folder, which could have an effect when opened. A missing
    /// file fails later, when it is opened.
    private static func mayBeRead(_ file: String) -> Bool {
        var status = stat()
        return stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}

/// The revocation lists in the folder that a setting of the store names.
package struct FiledRevocationLists: Sendable {
    /// The lists that were read.
    package var lists: [FiledRevocationList] = []
    /// What is wrong with each file that cannot be read. It may contain the list that revokes a certificate, so verdicts have a
    /// problem.
    package var unreadable: [String] = []

    /// The lists without the paths of their files.
    package var all: [CertificateList] { lists.map(\.list) }
}

/// A revocation list in the folder that a setting of the store names.
package struct FiledRevocationList: Sendable {
    /// The path of the list's file.
    package let path: String
    /// The list. Its signature is not verified here, but when the list is used.
    package let list: CertificateList
}
