import Foundation
import PKIX
import SMIMEAgent
import SMIMEStore
import Synchronization

extension Examination {
    /// Revocation lists that are over and have no successor, in the store or in the settings' folder, and what cannot be
    /// read there. Where lists may be fetched over the network they are when they are needed.
    mutating func examineRevocationLists(of store: Store, at time: Date) async throws {
        let stored = try await store.anchors.revocationLists()
        add("crls", .ok, "\(stored.count) in the store")
        let filed = try await examineRevocationFolder(of: store)
        let isOnline = (try? await store.revocationServices().areAsked) ?? false
        let all = stored.map { (list: $0, file: String?.none) } + filed.map { ($0.list, $0.path) }
        for (list, file) in all {
            let hasSuccessor = all.contains {
                $0.list.supersedes(list, at: time) || $0.list.outlasts(list, at: time)
            }
            guard !isOnline, let end = list.nextUpdate, end < time, !hasSuccessor else { continue }
            let hints =
                file.map {
                    [
                        "get a newer one in its place; see to what fetches it, or remove the file if it is not needed: rm \(shell: $0)"
                    ]
                }
                ?? [
                    "get a newer one, then: smime import FILE",
                    "if nobody needs it any more: smime trust remove \(list.fingerprint)",
                ]
            let place = file.map { "\($0): " } ?? ""
            add(
                "crl-overdue",
                .warning,
                "\(place)\(list.issuer): the newest revocation list of it ended \(end.day)",
                hints
            )
        }
    }

    /// - Returns: the lists in the folder; none if there is no such setting, or the folder cannot be read.
    private mutating func examineRevocationFolder(of store: Store) async throws -> [FiledRevocationList] {
        let texts = Mutex<[String]>([])
        do {
            let filed = try await store.filedRevocationLists { text in texts.withLock { $0.append(text) } }
            for item in filed where (try? item.list.checkEntries()) == nil {
                texts.withLock { $0.append("\(item.path): a revocation list whose entries cannot be read") }
            }
            for text in texts.withLock({ $0 }) {
                add("crl-unreadable", .warning, text, ["put the list there anew, or move the file elsewhere"])
            }
            if let path = try await store.settings.value(of: Setting.revocationDirectory.rawValue), !path.isEmpty {
                add("crls", .ok, "\(filed.count) in \(path)")
            }
            return filed
        } catch let error as SettingError {
            let hints = [
                "bring the folder back, readable for the user of the store, or name another: smime config set revocation.directory DIR"
            ]
            add("crl-folder", .warning, "\(error); its revocation lists do not count", hints)
            return []
        }
    }
}
