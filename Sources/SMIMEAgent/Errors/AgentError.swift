import Foundation
package import InternetMessage
package import LibCrypto
package import PKIX
public import SMIME
package import SMIMEStore

/// An error in sending, receiving, importing or restoring.
package enum AgentError: Error, Sendable {
    /// The directory cannot be read.
    case unreadableFolder(path: String)
    /// The file, or an item in it, cannot be read.
    case unreadable(file: String, because: any Error)
    /// A file that is not mail is larger than a file of keys and certificates may be.
    case tooBigForKeys(file: String)
    /// A file requires more iterations of key derivation than are allowed; `more` is a higher limit to try, which may
    /// still be too low.
    case tooManyIterations(file: String, allowed: Int, more: Int)
    /// A file that should hold only certificates also holds private keys.
    case holdsPrivateKeys(file: String)
    /// None of the imported files contains a certificate for the private key in this file.
    case unpairedKey(file: String)
    /// The imported private key is new for an account that already has one, and no trust anchor or pin makes its
    /// certificate trusted. The caller passed neither an account nor `trusting`.
    case unconfirmedKey(Certificate, for: EmailAddress)
    /// The certificate of an identity names no address, and no account was given for the identity.
    case unnamedIdentity(Certificate)
    /// Nothing in the files could be stored. The value is the last problem that was found; nil if there is none.
    case nothingToImport(Problem?)
    /// The message has more than one From field.
    case severalFrom
    /// The message has no From field, so every signature would be found invalid.
    case noAuthor
    /// From is not exactly one mailbox that all mail programs read as the same address.
    case doubtfulAuthor(why: String)
    /// The signer is unknown: no account was named, and the message has no author.
    case noSigner
    /// There is no such account, or it has no identity that can sign; the accounts in `fitting` could sign as the
    /// author.
    case unusableSigner(KeystoreError, fitting: [EmailAddress])
    /// The certificate does not name the author; the accounts in `fitting` could sign as the author.
    case signerNotAuthor(EmailAddress, Certificate, fitting: [EmailAddress])
    /// The certificate does not permit signing.
    case notForSigning(Fingerprint)
    /// The certificate to sign with was revoked.
    case revokedSigner(Fingerprint)
    /// The key of the certificate cannot sign with this digest.
    case impossibleDigest(DigestAlgorithm, Certificate)
    /// Neither the command line nor the message names recipients.
    case noRecipients
    /// The field contains something that is not an address.
    case malformedRecipients(field: String)
    /// The recipients without a usable certificate, each with the known candidates.
    ///
    /// `isOutage` says whether the only reason is that a service or a source did not answer.
    case noUsableCertificate([RecipientChoice], isOutage: Bool)
    /// The file contains no certificate, or only those of authorities.
    case noRecipientCertificate(file: String)
    /// The key of a certificate in the file is too short for encryption.
    case weakRecipientKey(file: String, Certificate)
    /// The setting cannot contain an exception for this address.
    case noAccountCipher(for: EmailAddress, in: String)
    /// A store cannot be restored from this file.
    case notRestorable(file: String, NotRestorable)
    /// Nothing was learned from the mail in the files, and the files contain nothing else. The value is the last reason; nil
    /// if there is none.
    case nothingLearned(Problem?)
    /// The backup names an unknown cipher.
    case unknownCipher(file: String)
}

/// Why a store cannot be restored from a file.
package enum NotRestorable: String, Sendable {
    case accountBackup = "is a backup of accounts, not a copy of a store"
    case notRegular = "is not a regular file"
    case theStore = "is the store itself"
}

extension AgentError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .unreadableFolder(let path): "\(path): cannot read the directory"
        case .unreadable(let file, let error): "\(InputName.shown(file)): \(error)"
        case .tooBigForKeys(let file): "\(InputName.shown(file)): too big for keys or certificates"
        case .tooManyIterations(let file, let allowed, _):
            "\(InputName.shown(file)): asks for more than \(allowed) \(PKCS12.iterationLimit)"
        case .holdsPrivateKeys(let file): "\(InputName.shown(file)): holds private keys"
        case .unpairedKey(let file):
            "\(InputName.shown(file)): no certificate among the files belongs to this private key"
        case .unconfirmedKey(let certificate, let address):
            "\(address) already has a private key, and nothing shows that the new one, with the certificate "
                + "\(certificate.fingerprint), belongs to the same person"
        case .unnamedIdentity(let certificate): "\(certificate.subject): the certificate names no address"
        case .nothingLearned(let problem), .nothingToImport(let problem): problem?.text ?? "nothing to import"
        case .notRestorable(let file, let why): "\(file): \(why.rawValue)"
        case .severalFrom: "the message has more than one From field"
        case .noAuthor: "the message has no From to sign as, and without it no signature would be valid"
        case .doubtfulAuthor(let why): "\(why), so no signature of the message would be valid"
        case .noSigner: "the signer is not known"
        case .unusableSigner(let error, _): "\(error)"
        case .signerNotAuthor(let author, _, _): Self.notNamed(author)
        case .notForSigning(let fingerprint): "\(fingerprint): the certificate does not permit signing mail"
        case .revokedSigner(let fingerprint):
            "\(fingerprint): the certificate was revoked by its issuer, and is not used any more"
        case .impossibleDigest(_, let certificate):
            "the key, \(certificate.publicKeyAlgorithm), signs with "
                + certificate.signatureDigests.map(\.rawValue).joined(separator: " or ") + " only"
        case .noRecipients:
            "no recipients: the message has none in To, Cc or Bcc, or in the fields of its latest resending"
        case .malformedRecipients(let field): "\(field): it contains text that is not an address"
        case .noUsableCertificate(let choices, _):
            "no usable certificate for "
                + choices.map { "\($0.address) (\($0.reasonForNoCertificate))" }.joined(separator: ", ")
        case .noRecipientCertificate(let file): "\(file): holds no certificate to encrypt to"
        case .weakRecipientKey(let file, let certificate):
            "\(file): a key of \(certificate.publicKeyAlgorithm) is too short to encrypt to"
        case .noAccountCipher(let sender, let setting): "\(sender) cannot be written in the setting \(setting)"
        case .unknownCipher(let file): "\(file): not a valid backup: it names an unknown cipher"
        }
    }

    /// The problem with a signature for `author` whose certificate does not name that address.
    package static func notNamed(_ author: EmailAddress) -> String {
        "the certificate does not name the message's From, \(author), so the signature would not be valid"
    }
}

/// How messages to the user name input files.
package enum InputName {
    /// The name to show for the file at `path`; the path `-` is shown as standard input.
    package static func shown(_ path: String) -> String { path == "-" ? "standard input" : path }
}

extension SMIMEError.Code {
    /// From is not exactly one mailbox that all mail programs read as the same address.
    public static let doubtfulAuthor = Self("doubtfulAuthor", .input)
    /// A certificate source, or a service that must say whether a certificate may be used, does not answer.
    public static let serviceUnavailable = Self("serviceUnavailable", .temporary)
    /// The imported private key is new for an account that already has one, and no trust anchor or pin makes its
    /// certificate trusted. The caller passed neither an account nor `trusting`.
    public static let unconfirmedKey = Self("unconfirmedKey", .input)
    /// There is no such setting, its value is invalid, or it names a folder that cannot be read.
    public static let unusableSetting = Self("unusableSetting", .configuration)
}

extension AgentError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .doubtfulAuthor, .noAuthor, .severalFrom: .doubtfulAuthor
        case .holdsPrivateKeys, .malformedRecipients, .noAccountCipher, .notRestorable, .nothingLearned,
            .nothingToImport,
            .unknownCipher, .unnamedIdentity:
            .malformed
        case .unconfirmedKey: .unconfirmedKey
        case .impossibleDigest, .noSigner, .notForSigning, .revokedSigner, .signerNotAuthor, .unusableSigner:
            .unusableSigner
        case .noRecipientCertificate, .noRecipients, .weakRecipientKey: .unusableRecipient
        case .noUsableCertificate(_, let isOutage): isOutage ? .serviceUnavailable : .unusableRecipient
        case .tooBigForKeys, .tooManyIterations: .limitExceeded
        case .unpairedKey: .noKeyPair
        case .unreadable(_, let error): SMIMEError(error).code
        case .unreadableFolder: .file
        }
    }
}
