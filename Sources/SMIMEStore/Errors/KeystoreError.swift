import Foundation
package import InternetMessage
package import PKIX

/// Why the store cannot be used, or does not hold what was asked for.
@nonexhaustive
package enum KeystoreError: Error, Equatable, Sendable {
    /// The address or alias belongs to another account.
    case addressTaken(String, by: EmailAddress)
    /// Another process held the store for longer than we wait; try again.
    case busy(path: String)
    /// The task that asked was cancelled before its turn.
    case cancelled
    /// A file or directory of the store cannot be made; `code` is errno.
    case cannotCreate(path: String, code: Int32)
    /// The store is there and cannot be opened. Never taken for an empty store.
    case cannotOpen(path: String, reason: String)
    /// This process closed the store, and still used it afterwards.
    case closed(path: String)
    /// What the file holds is damaged or no store of ours.
    case corrupt(path: String, detail: String)
    /// Another key file than the one that seals the copy of a store is there, so no private key in it would open.
    case foreignCopy(path: String, keyFile: String)
    /// The store's own code waits for the store, which would never end.
    case insideStore(path: String)
    /// The store key in the key file is not the one this store was made with.
    case keyMismatch(path: String)
    /// The key file is gone, so no private key can be opened.
    case keyMissing(path: String)
    /// The store is locked with a passphrase that could not be obtained; `why` is the reason.
    case locked(path: String, why: String?)
    /// There was a store, and its database is gone. No other one is made in its place.
    case missing(path: String)
    /// A newer program wrote the store; it was left untouched.
    case newer(path: String, found: Int, known: Int)
    /// A private key, of the certificate named, was to be stored for no account.
    case noAccount(Fingerprint)
    /// A certificate was to be stored for no address.
    case noAddress(Fingerprint)
    /// There is no store in the server's database. Opening does not create one, since an empty store has no rules.
    case noStore(path: String)
    /// This cannot be done with a store on a server; `why` says what to do instead.
    case notOnServer(path: String, why: String)
    /// The account has no identity that can be used for this now; `why` says what is wrong with those it has.
    case noUsableIdentity(EmailAddress, why: String)
    /// A file is no backup of accounts or copy of a store, or was changed since it was made.
    case malformedBackup(path: String, detail: String)
    /// Where a store is to be made there is one already.
    case occupied(path: String)
    /// A newer program wrote the account backup.
    case newerBackup(path: String, found: Int, known: Int)
    /// A program before the first release wrote the store; it was left untouched.
    case older(path: String, found: Int)
    /// The store has an older form and cannot be written, so it cannot be migrated either.
    case notMigrated(path: String, found: Int, known: Int)
    /// The store can be read but not written.
    case notWritable(path: String)
    /// Opening the store took longer than the caller wanted to wait.
    case openingTimedOut(path: String)
    /// The file or directory could be read or changed by others, or is not what it seems.
    case permissions(path: String, why: String)
    /// The account's only identity that could be used for this now is known to have been revoked by its issuer.
    case revokedIdentity(EmailAddress, Fingerprint)
    /// An error of the database that the caller cannot resolve.
    case unexpected(String)
    /// The database server cannot be reached, or does not let us in.
    case unreachable(path: String, reason: String)
    /// What was given for the store's database server cannot be used; never shows a password.
    case unusableAddress(name: String, why: String)
    /// The file with the settings of this host cannot be used.
    case unusableHostSettings(path: String, why: String)
    /// No account has this address.
    case unknownAccount(EmailAddress)
    /// The account has no such alias.
    case unknownAlias(String)
    /// The store does not hold this certificate, or not for the address it was asked for.
    case unknownCertificate(Fingerprint)
    /// No certificate is known for this address or domain.
    case unknownRecipient(AddressScope)
    /// A private key was to be stored with the certificate named, which is about another key.
    case unmatchedKey(Fingerprint)
    /// The libcrypto that runs is too old for a private key of the store; the text names its algorithm.
    case unsupportedKey(Fingerprint, String)
    /// The passphrase does not open the store, or the file of a backup.
    case wrongPassphrase(path: String)
    /// Writing failed: disk full or an I/O error. The store is as it was before.
    case writeFailed(path: String, reason: String)
}

extension KeystoreError {
    /// Whether the same call may succeed a moment later.
    ///
    /// Other processes held the store for too long, or the caller gave up. Mail that fails for such a reason is deferred.
    package var isTemporary: Bool {
        switch self {
        case .busy, .cancelled, .openingTimedOut, .unreachable: true
        case .addressTaken, .cannotCreate, .cannotOpen, .closed, .corrupt, .foreignCopy, .insideStore, .keyMismatch,
            .keyMissing, .locked, .malformedBackup, .missing, .newer, .newerBackup, .noAccount, .noAddress,
            .noStore, .noUsableIdentity, .notMigrated, .notOnServer, .notWritable, .occupied, .older, .permissions,
            .revokedIdentity, .unexpected,
            .unknownAccount, .unknownAlias,
            .unknownCertificate, .unknownRecipient, .unmatchedKey, .unsupportedKey, .unusableAddress,
            .unusableHostSettings, .wrongPassphrase,
            .writeFailed:
            false
        }
    }
}

extension KeystoreError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, with the file or address it is about in front, in lower case and without a full
    /// stop; never a secret.
    package var description: String {
        switch self {
        case .addressTaken(let address, let owner): "\(address): belongs to the account \(owner) already"
        case .busy(let path): "\(path): in use by another process for too long"
        case .cancelled: "interrupted"
        case .cannotCreate(let path, let code): "\(path): cannot create: \(String(cString: strerror(code)))"
        case .cannotOpen(let path, let reason): "\(path): cannot open the store: \(reason)"
        case .closed(let path): "\(path): the store is closed already"
        case .corrupt(let path, let detail): "\(path): the store is damaged: \(detail)"
        case .foreignCopy(let path, let keyFile):
            "\(path): made with another key file than \(keyFile), so no private key in it would open; nothing was changed"
        case .insideStore(let path): "\(path): the store waits for itself"
        case .keyMismatch(let path): "\(path): not the key of this store"
        case .keyMissing(let path): "\(path): the key file is missing, so no private key can be opened"
        case .locked(let path, let why): "\(path): locked: \(why ?? "a passphrase is needed, and none was given")"
        case .malformedBackup(let path, let detail): "\(path): not a sound backup: \(detail)"
        case .missing(let path): "\(path): the store is not there any more"
        case .newer(let path, let found, let known):
            "\(path): written by a newer smime (form \(found), this one knows \(known))"
        case .newerBackup(let path, let found, let known):
            "\(path): a backup by a newer smime (form \(found), this one knows \(known))"
        case .noAccount(let fingerprint): "\(fingerprint): there is no account that its private key is for"
        case .noAddress(let fingerprint): "\(fingerprint): there is no address that it is for"
        case .noStore(let path): "\(path): there is no store in this database"
        case .noUsableIdentity(let address, let why): "\(address): no usable identity: \(why)"
        case .notMigrated(let path, let found, let known):
            "\(path): the store has an older form (\(found), this smime knows \(known)) and cannot be written"
        case .notOnServer(let path, let why): "\(path): \(why)"
        case .notWritable(let path): "\(path): the store cannot be written"
        case .occupied(let path): "\(path): there is a store already; nothing was changed"
        case .older(let path, let found):
            "\(path): written by a smime before the first release, whose stores are not read (form \(found))"
        case .openingTimedOut(let path): "\(path): the store did not open in time"
        case .permissions(let path, let why): "\(path): \(why)"
        case .revokedIdentity(let address, let fingerprint):
            "\(address): its certificate \(fingerprint) was revoked by its issuer, and is not used any more"
        case .unexpected(let detail): detail
        case .unknownAccount(let address): "\(address): no such account"
        case .unknownAlias(let alias): "\(alias): no such alias of this account"
        case .unknownCertificate(let fingerprint): "\(fingerprint): no such certificate here"
        case .unknownRecipient(let address): "\(address): no certificate is known"
        case .unreachable(let path, let reason): "\(path): cannot be reached: \(reason)"
        case .unusableAddress(let name, let why): "\(name): \(why)"
        case .unusableHostSettings(let path, let why): "\(path): \(why)"
        case .unmatchedKey(let fingerprint): "\(fingerprint): the private key is not that of this certificate"
        case .unsupportedKey(let fingerprint, let algorithm):
            "\(fingerprint): this libcrypto is too old for its private key, which is \(algorithm)"
        case .wrongPassphrase(let path): "\(path): wrong passphrase"
        case .writeFailed(let path, let reason): "\(path): cannot write: \(reason)"
        }
    }
}
