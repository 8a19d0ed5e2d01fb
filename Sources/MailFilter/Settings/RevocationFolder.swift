package import CMS
import Foundation
package import Keystore
import Streams

/// A folder of revocation lists, which somebody else keeps up to date.
struct RevocationFolder {
    let path: String

    /// The most bytes of lists that are read, and the most files.
    private static let (maximumCount, maximumFiles) = (128 << 20, 1000)

    /// Every list in the folder; what cannot be read is told, and passed over.
    ///
    /// - Throws: `SettingError.folderUnreadable` if there is no such folder.
    func lists(warn: (String) -> Void) throws(SettingError) -> [CertificateList] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path).sorted() } catch {
            throw .folderUnreadable(path: path)
        }
        var left = Self.maximumCount
        var lists: [CertificateList] = []
        for name in names.filter({ !$0.hasPrefix(".") }).prefix(Self.maximumFiles) {
            let file = "\(path)/\(name)"
            guard let source = try? FileSource(path: file), source.count <= left else { continue }
            left -= source.count
            do {
                for case .certificateList(let list) in try KeyMaterial.read(source.bytes(in: 0..<source.count)) {
                    lists.append(list)
                }
            } catch {
                warn("\(file): no revocation list that can be read")
            }
        }
        return lists
    }
}

/// The lists of the folder that a store's settings name, read once.
package actor FolderLists {
    private let warn: @Sendable (String) -> Void
    private var known: [CertificateList]?

    /// - Parameter warn: is told of files that are no lists.
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
