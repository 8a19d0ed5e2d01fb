import CMS
import Foundation
import Keystore
import Streams

/// A folder of revocation lists, which somebody else keeps up to date.
struct RevocationFolder {
    let path: String

    /// The most bytes of lists that are read, and the most files.
    private static let (maximumCount, maximumFiles) = (128 << 20, 1000)

    /// Every list in the folder; what cannot be read is told, and passed over.
    ///
    /// - Throws: `Failure` with status 78 if there is no such folder.
    func lists() throws -> [CertificateList] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path).sorted() } catch {
            throw Failure(
                .configuration,
                "\(path): cannot be read, and the setting revocation.directory names it",
                hints: ["smime config unset revocation.directory"]
            )
        }
        var left = Self.maximumCount
        var lists: [CertificateList] = []
        for name in names.filter({ !$0.hasPrefix(".") }).prefix(Self.maximumFiles) {
            let file = "\(path)/\(name)"
            guard let source = try? FileSource(path: file), source.count <= left else { continue }
            left -= source.count
            do {
                for case .certificateList(let list) in try KeyMaterial.read(InputFile.bytes(of: source, at: file)) {
                    lists.append(list)
                }
            } catch {
                Console.warning("\(file): no revocation list that can be read")
            }
        }
        return lists
    }
}

/// The lists of the folder that a store's settings name, read once.
actor FolderLists {
    private var known: [CertificateList]?

    /// The lists; none if the settings name no folder.
    ///
    /// - Throws: `Failure` with status 78 if the folder cannot be read.
    func lists(in store: Store) async throws -> [CertificateList] {
        if let known { return known }
        let lists = try await store.revocationLists()
        known = lists
        return lists
    }
}
