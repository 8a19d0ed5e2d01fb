import Foundation
package import InternetMessage
package import PKIX
public import SMIME

/// Why the store cannot be used, or does not have the requested data.
@nonexhaustive
package enum KeystoreError: Error, Equatable, Sendable {
    /// The address or alias belongs to another account.
    case addressTaken(String, by: EmailAddress)
    /// Another process kept the store locked, or kept changing it, for too long; try again.
    case busy(path: String)
    /// The task of the caller was cancelled before its turn.
    case cancelled
    /// A file or directory of the store cannot be created; `code` is errno.
    case cannotCreate(path: String, code: Int32)
    /// The store exists but cannot be opened. It is never treated as an empty store.
    case cannotOpen(path: String, reason: String)
    /// The store is used after this process closed it.
    case closed(path: String)
    /// The content of the file is damaged, or is not a store.
    case corrupt(path: String, detail: String)
    /// The key file belongs to another store, so it opens none of the private keys in the copy.
    case foreignCopy(path: String, keyFile: String)
    /// Code that the store itself runs called a blocking function of the store. The call could only time out.
    case insideStore(path: String)
    /// The key in the key file, or from the key program, does not open the store key.
    case keyMismatch(path: String)
    /// The key file is missing, so no private key can be opened.
    case keyMissing(path: String)
    /// The store is locked with a passphrase that could not be obtained; `why` is the reason, nil if no passphrase was
    /// given.
    case locked(path: String, why: String?)
    /// There is no store where one was expected: it existed before, or the caller required an existing one. A new store
    /// is not created.
    case missing(path: String)
    /// A newer program wrote the store; nothing was changed.
    case newer(path: String, found: Int, known: Int)
    /// A private key was to be stored for no account. The fingerprint is that of its certificate.
    case noAccount(Fingerprint)
    /// A certificate was to be stored for no address.
    case noAddress(Fingerprint)
    /// There is no store in the server's database. Opening does not create a store, because an empty store has no rules.
    case noStore(path: String)
    /// The operation is not possible with this store, because of where the store is, or because the database role is missing
    /// or lacks a right. `why` is the reason, and says what to do instead if there is something.
    case notPossible(path: String, why: String)
    /// The account has no identity that can be used for the purpose now; `why` says why none of its identities can.
    case noUsableIdentity(EmailAddress, why: String)
    /// A file is neither an account backup nor a copy of a store, or is damaged or was modified.
    case malformedBackup(path: String, detail: String)
    /// A store was to be created in a place that already has one.
    case occupied(path: String)
    /// A newer program wrote the account backup.
    case newerBackup(path: String, found: Int, known: Int)
    /// A program before the first release wrote the store; nothing was changed.
    case older(path: String, found: Int)
    /// The store has an older schema version and must be migrated, but cannot be written.
    case notMigrated(path: String, found: Int, known: Int)
    /// The store can be read but not written.
    case notWritable(path: String)
    /// Opening the store took longer than the caller wanted to wait.
    case openingTimedOut(path: String)
    /// Other users can read or change the file or directory, or it is of the wrong kind.
    case permissions(path: String, why: String)
    /// The account has no identity that can be used for the purpose now; this one could be used if its issuer had not
    /// revoked it.
    case revokedIdentity(EmailAddress, Fingerprint)
    /// An error of the database that the caller cannot resolve.
    case unexpected(String)
    /// The database server cannot be reached, or rejects the login.
    case unreachable(path: String, reason: String)
    /// The address of the store's database server cannot be used. The text never has a password.
    case unusableAddress(name: String, why: String)
    /// The file with the settings of this host cannot be used.
    case unusableHostSettings(path: String, why: String)
    /// A role of the database cannot be given rights: its name cannot be used, or it owns the tables.
    case unusableRole(name: String, why: String)
    /// No account has this address.
    case unknownAccount(EmailAddress)
    /// The account has no such alias.
    case unknownAlias(String)
    /// The store does not have this certificate, or not for the given address.
    case unknownCertificate(Fingerprint)
    /// No certificate is known for this address or domain.
    case unknownRecipient(AddressScope)
    /// A private key was to be stored with a certificate for another key. The fingerprint is that of the certificate.
    case unmatchedKey(Fingerprint)
    /// The libcrypto in use does not support a private key of the store; the text names the key's algorithm.
    case unsupportedKey(Fingerprint, String)
    /// The passphrase does not open the store or the backup.
    case wrongPassphrase(path: String)
    /// Writing failed, for example because the disk is full. The database was not changed.
    case writeFailed(path: String, reason: String)
}

extension KeystoreError {
    /// Whether the same call may succeed later, and mail that fails with this error is deferred.
    ///
    /// Other processes kept the store locked for too long, the caller stopped waiting, or the server cannot be reached.
    package var isTemporary: Bool {
        switch self {
        case .busy, .cancelled, .openingTimedOut, .unreachable: true
        case .addressTaken, .cannotCreate, .cannotOpen, .closed, .corrupt, .foreignCopy, .insideStore, .keyMismatch,
            .keyMissing, .locked, .malformedBackup, .missing, .newer, .newerBackup, .noAccount, .noAddress,
            .noStore, .noUsableIdentity, .notMigrated, .notPossible, .notWritable, .occupied, .older, .permissions,
            .revokedIdentity, .unexpected,
            .unknownAccount, .unknownAlias,
            .unknownCertificate, .unknownRecipient, .unmatchedKey, .unsupportedKey, .unusableAddress,
            .unusableHostSettings, .unusableRole, .wrongPassphrase,
            .writeFailed:
            false
        }
    }
}

extension KeystoreError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop. It starts with the file or address
    /// concerned, if there is one. It never contains a secret.
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
        case .insideStore(let path): "\(path): code that the store itself runs must not wait for the store"
        case .keyMismatch(let path): "\(path): not the key of this store"
        case .keyMissing(let path): "\(path): the key file is missing, so no private key can be opened"
        case .locked(let path, let why): "\(path): locked: \(why ?? "a passphrase is needed, and none was given")"
        case .malformedBackup(let path, let detail): "\(path): not a valid backup: \(detail)"
        case .missing(let path): "\(path): the store no longer exists"
        case .newer(let path, let found, let known):
            "\(path): written by a newer smime (schema \(found), this one knows \(known))"
        case .newerBackup(let path, let found, let known):
            "\(path): a backup by a newer smime (schema \(found), this one knows \(known))"
        case .noAccount(let fingerprint): "\(fingerprint): no account was given for its private key"
        case .noAddress(let fingerprint): "\(fingerprint): no address was given for the certificate"
        case .noStore(let path): "\(path): there is no store in this database"
        case .noUsableIdentity(let address, let why): "\(address): no usable identity: \(why)"
        case .notMigrated(let path, let found, let known):
            "\(path): the store has an older schema (\(found), this smime knows \(known)) and cannot be written"
        case .notPossible(let path, let why): "\(path): \(why)"
        case .notWritable(let path): "\(path): the store cannot be written"
        case .occupied(let path): "\(path): there is a store already; nothing was changed"
        case .older(let path, let found):
            "\(path): written by a smime before the first release, whose stores are not read (schema \(found))"
        case .openingTimedOut(let path): "\(path): the store did not open in time"
        case .permissions(let path, let why): "\(path): \(why)"
        case .revokedIdentity(let address, let fingerprint):
            "\(address): its certificate \(fingerprint) was revoked by its issuer, and is not used any more"
        case .unexpected(let detail): detail
        case .unknownAccount(let address): "\(address): no such account"
        case .unknownAlias(let alias): "\(alias): no such alias of this account"
        case .unknownCertificate(let fingerprint): "\(fingerprint): no such certificate"
        case .unknownRecipient(let address): "\(address): no certificate is known"
        case .unreachable(let path, let reason): "\(path): cannot be reached: \(reason)"
        case .unusableAddress(let name, let why), .unusableRole(let name, let why): "\(name): \(why)"
        case .unusableHostSettings(let path, let why): "\(path): \(why)"
        case .unmatchedKey(let fingerprint): "\(fingerprint): the private key is not that of this certificate"
        case .unsupportedKey(let fingerprint, let algorithm):
            "\(fingerprint): this libcrypto is too old for its private key, which is \(algorithm)"
        case .wrongPassphrase(let path): "\(path): wrong passphrase"
        case .writeFailed(let path, let reason): "\(path): cannot write: \(reason)"
        }
    }
}

extension KeystoreError {
    /// Converts an error of the database, or of this package, into the error for the caller.
    init(_ error: any Error, path: String) {
        if let error = error as? KeystoreError {
            self = error
            return
        }
        guard let error = error as? SQLError else {
            self =
                switch error {
                case is CancellationError: .cancelled
                // The store writes only well-formed data.
                case is CMSError, is MIMEError: .corrupt(path: path, detail: String(describing: error))
                default: .unexpected(String(describing: error))
                }
            return
        }
        self =
            switch error.kind {
            case .busy, .conflict: .busy(path: path)
            case .disconnected, .unreachable: .unreachable(path: path, reason: error.message)
            case .corrupt, .mismatch: .corrupt(path: path, detail: error.message)
            case .forbidden:
                .notPossible(path: path, why: "the database role has no permission for this: \(error.message)")
            case .cannotOpen, .denied: .cannotOpen(path: path, reason: error.message)
            case .writeFailed: .writeFailed(path: path, reason: error.message)
            case .readOnly: .notWritable(path: path)
            case .other: .unexpected("\(path): \(error.message)")
            }
    }
}

extension SMIMEError.Code {
    /// The address belongs to another account.
    public static let addressTaken = Self("addressTaken", .input)
    /// The account has no identity that can be used for the purpose now.
    public static let noUsableIdentity = Self("noUsableIdentity", .key)
    /// Another process kept the store locked for too long.
    public static let storeBusy = Self("storeBusy", .temporary)
    /// The store is locked with a passphrase, and no passphrase was given.
    public static let storeLocked = Self("storeLocked", .key)
    /// The store can be read but not written.
    public static let storeReadOnly = Self("storeReadOnly", .configuration)
    /// The server with the store's database cannot be reached.
    public static let storeUnreachable = Self("storeUnreachable", .temporary)
    /// The store is missing, damaged, of another version, or accessible to other users. It is never treated as an empty
    /// store.
    public static let storeUnusable = Self("storeUnusable", .configuration)
    /// No account has the address.
    public static let unknownAccount = Self("unknownAccount", .recipient)
    /// The store does not have the certificate.
    public static let unknownCertificate = Self("unknownCertificate", .recipient)
    /// No certificate is known for the address.
    public static let unknownRecipient = Self("unknownRecipient", .recipient)
}

extension KeystoreError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .addressTaken: .addressTaken
        case .busy, .openingTimedOut: .storeBusy
        case .cancelled: .cancelled
        case .cannotCreate, .cannotOpen, .corrupt, .foreignCopy, .keyMismatch, .keyMissing, .missing, .newer,
            .newerBackup, .noStore, .notMigrated, .notPossible, .occupied, .older, .permissions, .unusableAddress,
            .unusableHostSettings, .unusableRole:
            .storeUnusable
        case .closed, .insideStore, .unexpected: .bug
        case .locked: .storeLocked
        case .malformedBackup: .malformed
        case .noAccount, .unknownAccount, .unknownAlias: .unknownAccount
        case .noAddress, .unknownRecipient: .unknownRecipient
        case .noUsableIdentity, .revokedIdentity: .noUsableIdentity
        case .notWritable: .storeReadOnly
        case .unknownCertificate: .unknownCertificate
        case .unreachable: .storeUnreachable
        case .unmatchedKey: .noKeyPair
        case .unsupportedKey: .unsupported
        case .wrongPassphrase: .wrongPassphrase
        case .writeFailed: .file
        }
    }
}
