import Foundation
import InternetMessage
import SMIMEAgent
import SMIMEStore

extension Failure {
    init(keystore error: KeystoreError) {
        self.init(Self.status(of: error), error.description, hints: Self.hints(for: error))
    }

    private static func status(of error: KeystoreError) -> ExitStatus {
        guard !error.isTemporary else { return .tryAgain }
        switch error {
        case .addressTaken, .noAccount, .noAddress, .noUsableIdentity, .revokedIdentity, .unknownAccount, .unknownAlias,
            .unknownCertificate, .unknownRecipient:
            return .noUser
        case .cannotCreate(_, let code): return code == EACCES || code == EPERM ? .noPermission : .cannotCreate
        case .cannotOpen, .corrupt, .foreignCopy, .keyMismatch, .keyMissing, .missing, .newer, .newerBackup,
            .noStore, .notPossible, .occupied, .older, .unsupportedKey, .unusableHostSettings:
            return .configuration
        case .locked, .notMigrated, .notWritable, .permissions, .wrongPassphrase: return .noPermission
        case .malformedBackup, .unmatchedKey: return .badData
        case .unusableAddress, .unusableRole: return .usage
        case .writeFailed: return .inputOutput
        // The first four errors are temporary; their status was already returned above. All errors are listed so that a new
        // case does not compile until it has a status.
        case .busy, .cancelled, .openingTimedOut, .unreachable, .closed, .insideStore, .unexpected: return .software
        }
    }

    /// The hint about a missing store. It does not suggest to create another store, which would contain no rules.
    static let bringBack = "mount its disk, or put back a copy with `smime store restore FILE`"

    /// What to do if the store's private keys can never be opened again.
    private static let startOver = "put the store aside, and then import your .p12 files again: smime store start-over"
    private static let withoutCopy = "without a copy, \(startOver)"

    /// Hints about the error, with commands.
    private static func hints(for error: KeystoreError) -> [String] {
        switch error {
        case .addressTaken(_, let owner): ["see `smime account show \(shell: owner)`"]
        case .cannotOpen(let path, _) where PostgreSQLAddress.names(path):
            ["the server's log says more; its administrator gives access, or puts back a copy of the database"]
        case .corrupt(let path, _) where PostgreSQLAddress.names(path):
            ["put back a copy of the database, as with pg_restore (`smime doctor` shows what else is wrong)"]
        case .cannotOpen, .missing: [bringBack]
        case .corrupt(let path, _) where path.hasSuffix("/store.key"): ["put back the key file from a copy"]
        case .corrupt: ["put back a copy: smime store restore FILE (`smime doctor` shows what else is wrong)"]
        case .foreignCopy: ["put back its key file first"]
        case .keyMismatch: ["put back its key file", withoutCopy]
        case .keyMissing: ["put back the key file from a copy", withoutCopy]
        case .locked:
            [
                """
                give the store's passphrase with --password-file, --password-fd or --password-env (--store-password-file \
                and so on where those are for another file), or as the systemd credential \(ProcessEnvironment.passphraseCredential)
                """
            ] + (Invocation.current.asksKeyAgent ? ["or keep the store unlocked for a time: smime unlock"] : [])
        case .newer, .newerBackup: ["install the newer version; nothing was changed"]
        case .noAccount: ["name its account with --account ADDR"]
        case .noStore: ["make one with: smime store init"]
        case .noUsableIdentity(let address, _):
            [
                "import a new one: smime import NEW.p12 (`smime account show \(shell: address)` lists the present ones)"
            ]
        case .older: ["export the keys with that smime, and import them into a new store; nothing was changed"]
        case .notMigrated: ["migrate it once as a user who may write it: smime store migrate"]
        case .openingTimedOut: ["allow more seconds with \(ProcessEnvironment.storeTimeout)"]
        case .permissions(let path, let why): permissionHints(path, why: why)
        case .revokedIdentity: ["import a new one: smime import NEW.p12"]
        // Starting over helps with a store, which is a folder, but not with a backup.
        case .wrongPassphrase(let path): isFolder(path) ? ["if it is forgotten, \(startOver)"] : []
        case .unknownAccount:
            ["`smime account list` shows the accounts; smime import KEY.p12 makes one"]
        case .unknownRecipient(let address): ["add one with `smime recipient add \(shell: address) FILE`"]
        case .unsupportedKey: ["see `smime --version`; ML-DSA and ML-KEM need OpenSSL 3.5"]
        case .busy, .cancelled, .cannotCreate, .closed, .insideStore, .malformedBackup,
            .noAddress, .notPossible, .notWritable, .occupied, .unexpected, .unknownAlias, .unknownCertificate,
            .unmatchedKey, .unreachable, .unusableAddress, .unusableHostSettings, .unusableRole, .writeFailed:
            []
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The user who owns `path`, if this process could run as that user; nil otherwise.
    private static func owner(of path: String) -> String? {
        var status = stat()
        guard geteuid() == 0, lstat(path, &status) == 0 else { return nil }
        return SystemUser(id: status.st_uid)?.name
    }

    private static func permissionHints(_ path: String, why: String) -> [String] {
        if why.contains("another user"), let owner = owner(of: path) {
            return ["run it as its owner: runuser -u '\(owner)' -- smime …"]
        }
        guard why.contains("open to others") else { return [] }
        return ["make it private: chmod \(why.contains("700") ? "700" : "600") \(shell: path)"]
    }
}
