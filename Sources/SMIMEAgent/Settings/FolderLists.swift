import ByteStreams
import Foundation
package import PKIX
package import SMIMEStore
import Synchronization

/// The revocation lists in the folder that a store's setting names. The folder is read once.
package actor FolderLists {
    /// The contents of the folder.
    package struct Contents: Sendable {
        /// The lists in the folder.
        package var lists: [CertificateList] = []
        /// Why the folder cannot be read; nil if it was read, or no folder is named.
        package var failure: SettingError?
        /// What is wrong with the folder, or with files in it that cannot be read; see `TrustStore.unreadableLists`.
        package var faults: [String] = []
    }

    private let warn: @Sendable (String) -> Void
    private var known: Contents?
    private var isReading = false
    /// The callers that wait for the end of the reading that is in progress.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter warn: called for files that are ignored: unreadable files, files without a revocation list, and files
    ///   beyond the limits.
    package init(warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    /// The contents of the folder, without lists if the setting names no folder. An unreadable folder is no error: the
    /// caller passes `faults` on, so that the verdicts contain a problem. `warn` is called as well.
    ///
    /// - Throws: `KeystoreError`
    package func contents(in store: Store) async throws -> Contents {
        // While one caller reads, the actor lets others in; they wait here. If the read fails, the next caller reads.
        while isReading { await withCheckedContinuation { waiting.append($0) } }
        if let known { return known }
        isReading = true
        defer {
            isReading = false
            waiting.forEach { $0.resume() }
            waiting = []
        }
        var contents = Contents()
        do {
            let filed = try await store.filedRevocationLists(warn: warn)
            (contents.lists, contents.faults) = (filed.all, filed.unreadable)
        } catch let error as SettingError {
            guard case .folderUnreadable = error else { throw error }
            contents.failure = error
            contents.faults = ["\(error)"]
            warn("\(error); its revocation lists are not used")
        }
        known = contents
        return contents
    }

    /// `options` with the lists added, unless revocation checks are off.
    ///
    /// - Throws: `SettingError.folderUnreadable` if certificates of unknown revocation status are rejected; `KeystoreError`
    package func added(to options: ValidationOptions, in store: Store) async throws -> ValidationOptions {
        guard options.revocation != .off else { return options }
        let contents = try await contents(in: store)
        if let failure = contents.failure, options.revocation == .hard { throw failure }
        var options = options
        options.certificateLists += contents.lists
        options.unreadableLists += contents.faults
        return options
    }
}
