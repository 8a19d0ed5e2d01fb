public import CMS
public import MIME

/// Why the store cannot be used, or does not hold what was asked for.
@nonexhaustive
public enum KeystoreError: Error, Equatable, Sendable {
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
    /// The store was closed by this process, and whoever holds it asks no more of it.
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
    /// The store is locked with a passphrase, and there is none to be had; `why` is what was in the way.
    case locked(path: String, why: String?)
    /// A newer program wrote the store; it was left untouched.
    case newer(path: String, found: Int, known: Int)
    /// A private key, of the certificate named, was to be stored for no account.
    case noAccount(Fingerprint)
    /// The account has no identity that can be used for this now; `why` says what is wrong with those it has.
    case noUsableIdentity(EmailAddress, why: String)
    /// A file is no backup of accounts or copy of a store, or was changed since it was made.
    case malformedBackup(path: String, detail: String)
    /// A newer program wrote the account backup.
    case newerBackup(path: String, found: Int, known: Int)
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
    /// The database refused in a way the caller cannot act on.
    case unexpected(String)
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
