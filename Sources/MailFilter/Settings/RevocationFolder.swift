package import CMS
import Foundation
package import Keystore
import Streams

/// A folder of revocation lists, which somebody else keeps up to date.
struct RevocationFolder {
    let path: String

    /// The most bytes of lists that are read, and the most files.
    private static let (maximumCount, maximumFiles) = (128 << 20, 1000)

    /// Every list in the folder; what cannot be read, and what is too much, is told and passed over.
    ///
    /// - Throws: `SettingError.folderUnreadable` if there is no such folder.
    func lists(warn: (String) -> Void) throws(SettingError) -> [CertificateList] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path).sorted() } catch {
            throw .folderUnreadable(path: path)
        }
        let files = names.filter { !$0.hasPrefix(".") }
        if files.count > Self.maximumFiles {
            warn("\(path): of \(files.count) files only the first \(Self.maximumFiles) are read for revocation lists")
        }
        var left = Self.maximumCount
        var lists: [CertificateList] = []
        for name in files.prefix(Self.maximumFiles) {
            let file = "\(path)/\(name)"
            guard Self.mayBeRead(file) else {
                warn("\(file): is not a regular file, and was passed over")
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
                    lists.append(list)
                }
            } catch let error as StreamError {
                warn("\(error)")
            } catch {
                warn("\(file): no revocation list that can be read")
            }
        }
        return lists
    }

    /// Whether `file` is no pipe, device or folder: to open one may do something. What is not there says so when it is opened.
    private static func mayBeRead(_ file: String) -> Bool {
        var status = stat()
        return stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}

/// The lists of the folder that a store's settings name, read once.
package actor FolderLists {
    private let warn: @Sendable (String) -> Void
    private var known: [CertificateList]?

    /// - Parameter warn: is told of files that are no lists, or cannot be read.
    package init(warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    /// The lists; none if the settings name no folder.
    ///
    /// - Throws: `SettingError.folderUnreadable`, `KeystoreError`
    package func lists(in store: Store) async throws -> [CertificateList] {
        if let known { return known }
        let lists = try await store.revocationLists(warn: warn)
        known = lists
        return lists
    }

    /// `terms` with the lists, unless nobody looks for revocation.
    ///
    /// - Throws: `SettingError.folderUnreadable`, `KeystoreError`
    package func added(to terms: TrustTerms, in store: Store) async throws -> TrustTerms {
        guard terms.revocation != .off else { return terms }
        var terms = terms
        terms.certificateLists += try await lists(in: store)
        return terms
    }
}
