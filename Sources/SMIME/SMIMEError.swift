public import CMS
public import MIME

/// Why a message could not be protected or opened.
@nonexhaustive
public enum SMIMEError: Error, Equatable, Sendable {
    /// The cipher that was demanded is below the least that may be used.
    case cipherBelowFloor(ContentCipher, floor: ContentCipher)
    /// The MIME around the protected content has a defect that no verdict may rest on.
    case defective(MIMEDefect)
    /// The MIME around the protected content is not what S/MIME asks for; the text completes "…: ".
    case malformed(String)
    /// No cipher is announced by all recipients; the text says who announces what.
    case noCommonCipher(String)
    /// Layers are nested deeper than anybody nests them.
    case tooManyLayers
    /// No RecipientInfo names a certificate whose key is at hand.
    case notARecipient
    /// Every RecipientInfo is for a password or a secret key, and none that fits was given.
    case needsSecret
    /// The message is not encrypted.
    case notEncrypted
}
