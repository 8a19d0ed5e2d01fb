import Foundation
package import InternetMessage
package import LibCrypto
package import PKIX
package import SMIMEStore

/// An error of the sending or the receiving agent.
package enum AgentError: Error, Sendable {
    /// The directory cannot be read.
    case unreadableFolder(path: String)
    /// The file, or what is in it, cannot be read.
    case unreadable(file: String, because: any Error)
    /// A file that is no mail has more bytes than keys and certificates have.
    case tooBigForKeys(file: String)
    /// A file asks for more iterations of key derivation than are allowed; `more` could be.
    case tooManyIterations(file: String, allowed: Int, more: Int)
    /// A file of certificates holds private keys, too.
    case holdsPrivateKeys(file: String)
    /// No certificate among the files of an import belongs to the private key in this one.
    case unpairedKey(file: String)
    /// The certificate of an identity names no address, and nothing else says whose it is.
    case unnamedIdentity(Certificate)
    /// Nothing in the files could be stored; with the problem of the last file, if it has one.
    case nothingToImport(Problem?)
    /// The message has more than one From field.
    case severalFrom
    /// The message has no From, and no signature would be valid without it.
    case noAuthor
    /// From is not exactly one mailbox that all programs read alike.
    case doubtfulAuthor(why: String)
    /// The signer is not known.
    case noSigner
    /// The account has no identity that can sign; `fitting` could sign as the author.
    case unusableSigner(KeystoreError, fitting: [EmailAddress])
    /// The certificate does not name the author; the accounts in `fitting` could sign as that.
    case signerNotAuthor(EmailAddress, Certificate, fitting: [EmailAddress])
    /// The certificate is not for signing.
    case notForSigning(Fingerprint)
    /// The certificate to sign with was revoked.
    case revokedSigner(Fingerprint)
    /// The key of the certificate cannot sign this digest.
    case impossibleDigest(DigestAlgorithm, Certificate)
    /// The recipients are unknown.
    case noRecipients
    /// Something in the field is no address.
    case malformedRecipients(field: String)
    /// Recipients without a usable certificate, with what is known of each.
    ///
    /// `isOutage` says that only the answer of a service or source is missing.
    case noUsableCertificate([RecipientChoice], isOutage: Bool)
    /// The file holds no certificate to encrypt to.
    case noRecipientCertificate(file: String)
    /// The key of a certificate in the file is too short to encrypt to.
    case weakRecipientKey(file: String, Certificate)
    /// The address cannot be written in the setting.
    case noCipherRule(for: EmailAddress, in: String)
    /// The file to restore is of another kind.
    case notRestorable(file: String, NotRestorable)
    /// Nothing was learned from the mail among the files of an import, which hold nothing else; with the last reason.
    case nothingLearned(Problem?)
    /// The backup names a cipher that there is not.
    case unknownCipher(file: String)
}

/// Why a file cannot take the place of a store.
package enum NotRestorable: String, Sendable {
    case accountBackup = "is a backup of accounts, and no copy of a store"
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
        case .unnamedIdentity(let certificate): "\(certificate.subject): the certificate names no address"
        case .nothingLearned(let problem), .nothingToImport(let problem): problem?.text ?? "nothing to import"
        case .notRestorable(let file, let why): "\(file): \(why.rawValue)"
        case .severalFrom: "the message has more than one From field"
        case .noAuthor: "the message has no From to sign as, and without it no signature would be valid"
        case .doubtfulAuthor(let why): "\(why), so no signature of the message would be valid"
        case .noSigner: "the signer is not known"
        case .unusableSigner(let error, _): "\(error)"
        case .signerNotAuthor(let author, _, _): Self.notNamed(author)
        case .notForSigning(let fingerprint): "\(fingerprint): the certificate may not sign mail"
        case .revokedSigner(let fingerprint):
            "\(fingerprint): the certificate was revoked by its issuer, and is not used any more"
        case .impossibleDigest(_, let certificate):
            "the key, \(certificate.publicKeyAlgorithm), signs with "
                + certificate.signatureDigests.map(\.rawValue).joined(separator: " or ") + " only"
        case .noRecipients: "no recipients: the message has none in To or Cc"
        case .malformedRecipients(let field): "\(field): something in it is no address"
        case .noUsableCertificate(let choices, _):
            "no usable certificate for "
                + choices.map { "\($0.address) (\($0.whyNone))" }.joined(separator: ", ")
        case .noRecipientCertificate(let file): "\(file): holds no certificate to encrypt to"
        case .weakRecipientKey(let file, let certificate):
            "\(file): a key of \(certificate.publicKeyAlgorithm) is too short to encrypt to"
        case .noCipherRule(let sender, let setting): "\(sender) cannot be written in the setting \(setting)"
        case .unknownCipher(let file): "\(file): not a sound backup: it names an unknown cipher"
        }
    }

    /// The problem of a signature for `author` whose certificate does not name that address.
    package static func notNamed(_ author: EmailAddress) -> String {
        "the certificate does not name the message's From, \(author), so the signature would not be valid"
    }
}
