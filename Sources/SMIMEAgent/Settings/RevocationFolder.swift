import ByteStreams
import Foundation
package import PKIX
package import SMIMEStore
import Synchronization

/// A folder of revocation lists, which another program keeps up to date.
struct RevocationFolder {
    let path: String

    /// The most bytes of lists that are read, and the most files.
    private static let (maximumCount, maximumFiles) = (128 << 20, 1000)

    /// Every list in the folder. Unreadable files and files beyond the limits are ignored with a warning.
    ///
    /// - Throws: `SettingError.folderUnreadable` if there is no such folder.
    func lists(warn: (String) -> Void) throws(SettingError) -> [FiledRevocationList] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path).sorted() } catch {
            throw .folderUnreadable(path: path)
        }
        let files = names.filter { !$0.hasPrefix(".") }
        let states = files.prefix(Self.maximumFiles).map { FileState("\(path)/\($0)") }
        if let known = Self.last.withLock({ $0 }), known.path == path, known.files == files, known.states == states {
            known.warnings.forEach(warn)
            return known.lists
        }
        var warnings: [String] = []
        let lists = read(files) { warnings.append($0) }
        warnings.forEach(warn)
        // A file that is exchanged meanwhile is another one the next time.
        if lists.reduce(0, { $0 + $1.list.der.count }) <= Self.keptCount, !states.contains(nil) {
            let contents = Contents(path: path, files: files, states: states, lists: lists, warnings: warnings)
            Self.last.withLock { $0 = contents }
        }
        return lists
    }

    /// What a folder held when it was read.
    private struct Contents: Sendable {
        let path: String
        let files: [String]
        let states: [FileState?]
        let lists: [FiledRevocationList]
        let warnings: [String]
    }

    /// The folder that was read last, which a server reads with every message.
    private static let last = Mutex<Contents?>(nil)
    /// The most bytes of lists that are kept.
    private static let keptCount = 32 << 20

    private func read(_ files: [String], warn: (String) -> Void) -> [FiledRevocationList] {
        if files.count > Self.maximumFiles {
            warn("\(path): of \(files.count) files only the first \(Self.maximumFiles) are read for revocation lists")
        }
        var left = Self.maximumCount
        var lists: [FiledRevocationList] = []
        for name in files.prefix(Self.maximumFiles) {
            let file = "\(path)/\(name)"
            guard Self.mayBeRead(file) else {
                warn("\(file): is not a regular file, and is ignored")
                continue
            }
            do {
                let source = try FileSource(path: file)
                guard source.count <= left else {
                    warn("\(file): beyond the \(Self.maximumCount >> 20) MiB of revocation lists that are read")
                    continue
                }
                left -= source.count
                for case .certificateList(let list) in try KeyMaterial.read(source.bytes(in: 0..<source.count)) {
                    lists.append(FiledRevocationList(path: file, list: list))
                }
            } catch let error as StreamError {
                warn("\(error)")
            } catch {
                warn("\(file): not a readable revocation list")
            }
        }
        return lists
    }

    /// Whether `file` is a regular file or does not exist. Opening a pipe or device may have side effects; a missing file is
    /// reported when it is opened.
    private static func mayBeRead(_ file: String) -> Bool {
        var status = stat()
        return stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}

/// A revocation list in the folder that the settings of a store name.
package struct FiledRevocationList: Sendable {
    /// The list's file.
    package let path: String
    /// The list; whether it is genuine is checked where it is used.
    package let list: CertificateList
}

/// The lists of the folder that a store's settings name, read once.
package actor FolderLists {
    /// The contents of the folder.
    package struct Contents: Sendable {
        /// The lists in it.
        package var lists: [CertificateList] = []
        /// Why the folder cannot be read; nil if it can, or none is named.
        package var failure: SettingError?
    }

    private let warn: @Sendable (String) -> Void
    private var known: Contents?

    /// - Parameter warn: called for files that are no lists, or cannot be read.
    package init(warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    /// The lists; none if the settings name no folder. A folder that cannot be read is warned of, and every verdict given
    /// without it says so.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func contents(in store: Store) async throws -> Contents {
        if let known { return known }
        var contents = Contents()
        do { contents.lists = try await store.revocationLists(warn: warn) } catch let error as SettingError {
            guard case .folderUnreadable = error else { throw error }
            contents.failure = error
            if known == nil { warn("\(error); its revocation lists do not count") }
        }
        known = contents
        return contents
    }

    /// `options` with the lists, unless revocation is off.
    ///
    /// - Throws: `SettingError.folderUnreadable` where certificates of unknown revocation are refused; `KeystoreError`
    package func added(to options: ValidationOptions, in store: Store) async throws -> ValidationOptions {
        guard options.revocation != .off else { return options }
        let contents = try await contents(in: store)
        if let failure = contents.failure, options.revocation == .hard { throw failure }
        var options = options
        options.certificateLists += contents.lists
        options.unreadableLists += contents.failure.map { ["\($0)"] } ?? []
        return options
    }
}
