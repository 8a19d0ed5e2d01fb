import Foundation
import PKIX
import SMIMEStore
import Synchronization

/// Checks the revocation lists in the store and in the folder that a setting of the store names.
struct DoctorRevocationCheck: DoctorCheck {
    let store: Store
    let time: Date
    var findings: [DoctorFinding] = []

    /// Reports expired revocation lists without a successor, in the store and in the folder of the setting, and unreadable
    /// files in that folder. If smime may fetch lists over the network, expired lists are not reported, because new ones are
    /// fetched when needed.
    mutating func run() async throws {
        let stored = try await store.anchors.revocationLists()
        add("crls", .ok, text: "\(stored.count) in the store")
        let filed = try await checkFolder()
        let isOnline = (try? await store.revocationServices().areAsked) ?? false
        let all = stored.map { (list: $0, file: String?.none) } + filed.map { ($0.list, $0.path) }
        for (list, file) in all {
            let hasSuccessor = all.contains {
                $0.list.supersedes(list, at: time) || $0.list.outlasts(list, at: time)
            }
            guard !isOnline, let end = list.nextUpdate, end < time, !hasSuccessor else { continue }
            let remedies =
                file.map { [DoctorRemedy.replaceList(path: $0)] } ?? [.importList, .forgetList(list.fingerprint)]
            let place = file.map { "\($0): " } ?? ""
            add(
                "crl-overdue",
                .warning,
                text: "\(place)\(list.issuer): its newest revocation list expired on \(end.day)",
                remedies: remedies
            )
        }
    }

    /// - Returns: the lists in the folder; empty if there is no such setting, or the folder cannot be read.
    private mutating func checkFolder() async throws -> [FiledRevocationList] {
        let texts = Mutex<[String]>([])
        do {
            let filed = try await store.filedRevocationLists { text in texts.withLock { $0.append(text) } }
            for item in filed.lists where (try? item.list.checkEntries()) == nil {
                texts.withLock { $0.append("\(item.path): a revocation list whose entries cannot be read") }
            }
            for text in texts.withLock({ $0 }) {
                add(
                    "crl-unreadable",
                    .warning,
                    text: text,
                    remedies: [.advice("put a readable list there, or move the file elsewhere")]
                )
            }
            if let path = try await store.settings.value(of: Setting.revocationDirectory.rawValue), !path.isEmpty {
                add("crls", .ok, text: "\(filed.lists.count) in \(path)")
            }
            return filed.lists
        } catch let error as SettingError {
            add(
                "crl-folder",
                .warning,
                text: "\(error); its revocation lists are not used",
                remedies: [.restoreListFolder]
            )
            return []
        }
    }
}
