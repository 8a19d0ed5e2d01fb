package import CMSSyntax
package import InternetMessage
import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a message could not be protected or opened.
@nonexhaustive
package enum MessageError: Error, Equatable, Sendable {
    /// The message has no encryption and no signature. It only contains certificates or revocation lists (RFC 8551 §3.8).
    case certificatesOnly
    /// The caller demanded a cipher that is weaker than the weakest allowed cipher.
    case cipherBelowFloor(ContentCipher, floor: ContentCipher)
    /// A header or the MIME structure has this defect, so other programs may read the message differently.
    case defective(MIMEDefect)
    /// The message, or a CMS object in it, does not follow S/MIME. The text is printed after a colon.
    case malformed(String)
    /// No cipher is announced by all recipients. The text lists the announced ciphers of each recipient.
    case noCommonCipher(String)
    /// The layers of protection are nested too deeply.
    case tooManyLayers
    /// No available private key belongs to a certificate that a RecipientInfo names.
    case notARecipient
    /// No RecipientInfo names a certificate, at least one is for a password or a shared key, and the caller provided none
    /// that matches.
    case needsSecret
    /// Parts of the message are encrypted, but not the message as a whole.
    case encryptedInParts
    /// The message is not encrypted.
    case notEncrypted
    /// A layer is encrypted with this cipher, which does not detect changes of the ciphertext, and the caller allows
    /// authenticated encryption only.
    case unauthenticated(cipher: String)
    /// The certificate must not be used to encrypt. The text names the recipient and the reason.
    case unusableRecipient(String)
    /// A signature with this certificate would not be valid. The text names the signer and the reason.
    case unusableSigner(String)
}

extension MessageError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop. It never contains a secret.
    package var description: String {
        switch self {
        case .certificatesOnly: "no content: it contains only certificates"
        case .cipherBelowFloor(let cipher, let floor):
            "\(cipher.name) is weaker than \(floor.name), the weakest cipher that is allowed"
        case .defective(let defect): "malformed: \(defect.text)"
        case .malformed(let why): "malformed: \(why)"
        case .needsSecret: "encrypted with a password or a secret key, and no matching one was given"
        case .noCommonCipher(let who): "there is no cipher that all recipients support: \(who)"
        case .notARecipient: "not encrypted for any identity here"
        case .encryptedInParts: "not encrypted as a whole: save each encrypted part to a file, and decrypt the files"
        case .notEncrypted: "not encrypted"
        case .unauthenticated(let cipher): "encrypted with \(cipher), which does not protect against changes"
        case .unusableRecipient(let why), .unusableSigner(let why): why
        case .tooManyLayers: "rejected, because it has more than \(LayerLimit.count) layers"
        }
    }
}

/// The limit for nested layers of protection.
package enum LayerLimit {
    /// The maximum number of nested layers in one message.
    package static let count = 8
}

extension Problem {
    /// The problem with the code and the text of `defect`.
    init(_ defect: MIMEDefect) { self.init(ProblemCode(defect), defect.text) }

    /// The problem that `error` describes.
    ///
    /// - Throws: `error`, or the cause of `MIMEError.unreadable`, if no problem code describes it: for example, a file cannot
    ///   be read.
    package init(describing error: any Error) throws {
        switch error {
        case CMSError.decryptionFailed: self.init(.decryptionFailed, "\(CMSError.decryptionFailed)")
        case let error as MessageError where error == .certificatesOnly: self.init(.certificatesOnly, "\(error)")
        case let error as MessageError where error == .needsSecret: self.init(.needsSecret, "\(error)")
        case let error as MessageError where error == .notARecipient: self.init(.notARecipient, "\(error)")
        case let error as MessageError where [.encryptedInParts, .notEncrypted].contains(error):
            self.init(.notEncrypted, "\(error)")
        case MessageError.defective(let defect): self.init(defect)
        case MessageError.malformed(let why): self.init(.malformed, why)
        case MessageError.tooManyLayers: self.init(.tooManyLayers, "more than \(LayerLimit.count) layers")
        case CMSError.malformed(_, let why): self.init(.cmsMalformed, "the CMS object is malformed: \(why)")
        case CMSError.unsupported(let what): self.init(.algorithmUnsupported, "\(what) is not supported")
        case CMSError.limitExceeded(let what): self.init(.cmsLimit, "the CMS object exceeds a limit: \(what)")
        case MIMEError.unreadable(let cause): throw cause
        case let error as MIMEError: self.init(.malformed, "\(error)")
        default: throw error
        }
    }
}

extension ProblemCode {
    /// The problem code with the same name as the defect.
    init(_ defect: MIMEDefect) {
        self =
            switch defect {
            case .bareCR: .bareCR
            case .bareLF: .bareLF
            case .blankBeforeColon: .blankBeforeColon
            case .byteOrderMark: .byteOrderMark
            case .contradictoryBoundary: .contradictoryBoundary
            case .duplicateContentType: .duplicateContentType
            case .duplicateTransferEncoding: .duplicateTransferEncoding
            case .encodedMultipart: .encodedMultipart
            case .hiddenFields: .hiddenFields
            case .malformedContentType: .malformedContentType
            case .mboxLine: .mboxLine
            case .missingBoundary: .missingBoundary
            case .missingHeaderEnd: .missingHeaderEnd
            case .nul: .nulByte
            case .unterminatedMultipart: .unterminatedMultipart
            }
    }
}
