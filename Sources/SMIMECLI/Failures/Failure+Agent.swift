import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension Failure {
    init(agent error: AgentError) {
        switch error {
        case .unreadable(let file, let cause): self.init(cause, in: InputName.shown(file))
        case .unusableSigner(let cause, let fitting):
            let failure = Failure(keystore: cause)
            self.init(failure.status, failure.message, hints: Self.hints(fitting) + failure.hints)
        case .impossibleDigest(let digest, _): self.init(.usage, "--digest \(digest.rawValue): \(error)")
        case .noAccountCipher: self.init(.usage, "--cipher: \(error)")
        default: self.init(Self.status(of: error), "\(error)", hints: Self.hints(for: error))
        }
    }

    private static func status(of error: AgentError) -> ExitStatus {
        switch error {
        case .notRestorable(_, let why): status(of: why)
        case .doubtfulAuthor, .holdsPrivateKeys, .malformedRecipients, .noRecipientCertificate,
            .nothingLearned,
            .severalFrom,
            .tooBigForKeys,
            .tooManyIterations, .unknownCipher, .unpairedKey:
            .badData
        case .noAuthor, .noSigner, .notForSigning, .nothingToImport, .revokedSigner, .signerNotAuthor,
            .unconfirmedKey, .unnamedIdentity, .unusableSigner, .weakRecipientKey:
            .noUser
        case .noUsableCertificate(_, let isOutage): isOutage ? .unavailable : .noUser
        case .impossibleDigest, .noAccountCipher, .noRecipients: .usage
        case .unreadable, .unreadableFolder: .noInput
        }
    }

    private static func status(of reason: NotRestorable) -> ExitStatus {
        switch reason {
        case .accountBackup: .badData
        case .notRegular: .noInput
        case .theStore: .usage
        }
    }

    /// Hints about the error, with commands.
    private static func hints(for error: AgentError) -> [String] {
        switch error {
        case .doubtfulAuthor: ["write exactly one address in From"]
        case .holdsPrivateKeys: ["import it with `smime import`"]
        case .malformedRecipients: ["name the recipients with --to"]
        case .noAuthor: ["name the signer with --from ADDR, which writes the field"]
        case .noRecipients: ["name them with --to ADDR"]
        case .noSigner: ["name the signer with --from ADDR"]
        case .noUsableCertificate(let choices, _): hints(for: choices)
        case .notRestorable(_, .accountBackup): ["to add them: smime account restore FILE"]
        case .nothingToImport: ["name the address yourself: smime recipient add ADDR FILE"]
        case .revokedSigner: ["to sign with it anyway: --revocation off"]
        case .signerNotAuthor(_, let certificate, let fitting): hints(fitting) + [hint(at: certificate)]
        case .tooManyIterations(let file, _, let more):
            [
                "if you trust its origin, allow more iterations once, which takes longer: "
                    + "smime import --max-iterations \(more) \(shell: file)"
            ]
        case .unconfirmedKey(_, let address):
            ["if it is yours, name the account: smime import FILE --account \(shell: address)"]
        case .unnamedIdentity: ["name its account with --account ADDR"]
        case .unpairedKey: ["also name the file of its certificate"]
        case .impossibleDigest, .noAccountCipher, .noRecipientCertificate, .notForSigning, .nothingLearned,
            .notRestorable,
            .severalFrom, .tooBigForKeys,
            .unknownCipher, .unreadable, .unreadableFolder, .unusableSigner, .weakRecipientKey:
            []
        }
    }

    /// Hints that name the accounts that could sign instead.
    private static func hints(_ fitting: [EmailAddress]) -> [String] {
        fitting.map { "the account \($0) fits: smime sign --from \(shell: $0)" }
    }

    /// A hint that names the From addresses for which `certificate` could sign.
    private static func hint(at certificate: Certificate) -> String {
        let named = certificate.emailAddresses.prefix(3).map(\.text).joined(separator: " or ")
        return named.isEmpty
            ? "`smime account list` shows the accounts" : "it names \(named): write that in From"
    }
}

extension Failure {
    /// The code of the failure in JSON, in kebab-case: a problem code if one fits, otherwise the code of the error, otherwise
    /// that of the exit status.
    var code: String {
        guard let cause else { return status.name }
        if let problem = try? Problem(describing: cause) { return problem.code }
        let code = SMIMEError(cause).code
        return code == .bug ? status.name : code.description.kebabCase
    }
}

extension ExitStatus {
    /// The name of the exit status in JSON.
    var name: String {
        switch self {
        case .success: "success"
        case .negative: "negative"
        case .outage: "outage"
        case .usage: "usage"
        case .badData: "bad-data"
        case .noInput: "no-input"
        case .noUser: "no-user"
        case .noHost: "no-host"
        case .unavailable: "unavailable"
        case .software: "software"
        case .systemError: "system-error"
        case .systemFile: "system-file"
        case .cannotCreate: "cannot-create"
        case .inputOutput: "input-output"
        case .tryAgain: "try-again"
        case .protocolError: "protocol-error"
        case .noPermission: "no-permission"
        case .configuration: "configuration"
        }
    }
}

extension String {
    /// The words of a camelCase name in lower case, with hyphens between them.
    fileprivate var kebabCase: String {
        reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }
}

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
                give the store's passphrase with --password-file, --password-fd or --password-env (in a command that has \
                --store-password-file, with --store-password-…), or as the systemd credential \
                \(ProcessEnvironment.passphraseCredential)
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
