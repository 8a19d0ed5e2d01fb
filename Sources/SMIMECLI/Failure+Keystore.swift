import Foundation
import Keystore
import MIME

extension Failure {
    init(keystore error: KeystoreError) {
        switch error {
        case .addressTaken(let address, let owner):
            self.init(
                .noUser,
                "\(address): belongs to the account \(owner) already",
                hints: ["see `smime account show \(owner)`"]
            )
        case .busy(let path):
            self.init(.tryAgain, "\(path): in use by another process for too long")
        case .cancelled:
            self.init(.tryAgain, "interrupted")
        case .cannotCreate(let path, let code):
            let status: ExitStatus = code == EACCES || code == EPERM ? .noPermission : .cannotCreate
            self.init(status, "\(path): cannot create: \(String(cString: strerror(code)))")
        case .cannotOpen(let path, let reason):
            self.init(.configuration, "\(path): cannot open the store: \(reason)")
        case .closed(let path):
            self.init(.software, "\(path): the store is closed already")
        case .corrupt(let path, let detail):
            self.init(
                .configuration,
                "\(path): the store is damaged: \(detail)",
                hints: [
                    "put back a copy: smime store restore FILE (`smime doctor` shows what else is wrong)"
                ]
            )
        case .foreignCopy(let path, let keyFile):
            self.init(
                .configuration,
                "\(path): made with another key file than \(keyFile), so no private key in it would open; nothing was changed",
                hints: ["put the key file that belongs to it there first"]
            )
        case .insideStore(let path):
            self.init(.software, "\(path): the store waits for itself")
        case .keyMismatch(let path):
            self.init(
                .configuration,
                "\(path): not the key of this store",
                hints: ["put back the key file that belongs to it"]
            )
        case .keyMissing(let path):
            self.init(
                .configuration,
                "\(path): the key file is missing, so no private key can be opened",
                hints: ["put back the key file from a copy"]
            )
        case .locked(let path, let why):
            self.init(
                .noPermission,
                "\(path): locked: \(why ?? "a passphrase is needed, and none was given")",
                hints: [
                    """
                    give the store's passphrase with --password-file, --password-fd or --password-env (--store-password-file \
                    and so on where those are for another file), or as the systemd credential \(StorePassphrase.credential)
                    """
                ]
            )
        case .malformedBackup(let path, let detail):
            self.init(.badData, "\(path): not a sound backup: \(detail)")
        case .newerBackup(let path, let found, let known):
            self.init(
                .configuration,
                "\(path): a backup by a newer smime (form \(found), this one knows \(known))",
                hints: ["install the newer version; nothing was changed"]
            )
        case .newer(let path, let found, let known):
            self.init(
                .configuration,
                "\(path): written by a newer smime (form \(found), this one knows \(known))",
                hints: ["install the newer version; nothing was changed"]
            )
        case .noAccount(let fingerprint):
            self.init(
                .noUser,
                "\(fingerprint): there is no account that its private key is for",
                hints: ["say whose it is with --account ADDR"]
            )
        case .noUsableIdentity(let address, let why):
            self.init(.noUser, "\(address): no usable identity: \(why)", hints: ["see `smime account show \(address)`"])
        case .notMigrated(let path, let found, let known):
            self.init(
                .noPermission,
                "\(path): the store has an older form (\(found), this smime knows \(known)) and cannot be written",
                hints: ["migrate it once as somebody who may write it: smime store migrate"]
            )
        case .notWritable(let path):
            self.init(.noPermission, "\(path): the store cannot be written")
        case .openingTimedOut(let path):
            self.init(
                .tryAgain,
                "\(path): the store did not open in time",
                hints: ["give it more seconds with \(GlobalOptions.timeoutVariable)"]
            )
        case .permissions(let path, let why):
            self.init(.noPermission, "\(path): \(why)", hints: Self.permissionHints(path, why))
        case .revokedIdentity(let address, let fingerprint):
            self.init(
                .noUser,
                "\(address): its certificate \(fingerprint) was revoked by its issuer, and is not used any more",
                hints: ["import a new one; or do without looking: --revocation off"]
            )
        case .unexpected(let detail):
            self.init(.software, detail)
        case .unknownAccount(let address):
            self.init(
                .noUser,
                "\(address): no such account",
                hints: ["import its key: smime import KEY.p12", "`smime account list` shows the accounts there are"]
            )
        case .unknownAlias(let alias):
            self.init(.noUser, "\(alias): no such alias of this account")
        case .unknownCertificate(let fingerprint):
            self.init(.noUser, "\(fingerprint): no such certificate here")
        case .unknownRecipient(let address):
            self.init(
                .noUser,
                "\(address): no certificate is known",
                hints: ["add one with `smime recipient add \(address) FILE`"]
            )
        case .unmatchedKey(let fingerprint):
            self.init(.badData, "\(fingerprint): the private key is not that of this certificate")
        case .unsupportedKey(let fingerprint, let algorithm):
            self.init(
                .configuration,
                "\(fingerprint): this libcrypto is too old for its private key, which is \(algorithm)",
                hints: ["see `smime --version`; ML-DSA and ML-KEM need OpenSSL 3.5"]
            )
        case .wrongPassphrase(let path):
            self.init(.noPermission, "\(path): wrong passphrase")
        case .writeFailed(let path, let reason):
            self.init(.inputOutput, "\(path): cannot write: \(reason)")
        }
    }

    private static func permissionHints(_ path: String, _ why: String) -> [String] {
        guard why.contains("open to others") else { return [] }
        return ["make it private: chmod \(why.contains("700") ? "700" : "600") \(path)"]
    }
}
