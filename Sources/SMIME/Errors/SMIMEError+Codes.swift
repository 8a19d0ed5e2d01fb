extension SMIMEError.Code {
    /// A fault of this library, or of libcrypto.
    public static let bug = Self("bug", .bug)
    /// The task was cancelled.
    public static let cancelled = Self("cancelled", .temporary)
    /// The message only brings certificates: there is nothing to open (RFC 8551 §3.8).
    public static let certificatesOnly = Self("certificatesOnly", .input)
    /// The cipher is below the least that may be used.
    public static let cipherBelowFloor = Self("cipherBelowFloor", .configuration)
    /// Decryption failed; there is no reason given, which would help an attacker (RFC 3218).
    public static let decryptionFailed = Self("decryptionFailed", .input)
    /// A file cannot be opened, read, made or written.
    public static let file = Self("file", .inputOutput)
    /// The input goes beyond a limit that protects against bombs.
    public static let limitExceeded = Self("limitExceeded", .input)
    /// The bytes are not what they should be.
    public static let malformed = Self("malformed", .input)
    /// Encrypted with a password or a secret key.
    public static let needsSecret = Self("needsSecret", .key)
    /// No cipher is announced by all recipients.
    public static let noCommonCipher = Self("noCommonCipher", .recipient)
    /// No private key belongs to the certificate.
    public static let noKeyPair = Self("noKeyPair", .key)
    /// The message is not encrypted.
    public static let notEncrypted = Self("notEncrypted", .input)
    /// The message is encrypted for others.
    public static let notForUs = Self("notForUs", .key)
    /// The content is encrypted with a cipher that does not protect against changes, and that was not to be opened.
    public static let unauthenticated = Self("unauthenticated", .input)
    /// The algorithm or feature cannot be used here.
    public static let unsupported = Self("unsupported", .input)
    /// The certificate must not be encrypted to.
    public static let unusableRecipient = Self("unusableRecipient", .recipient)
    /// A signature with this certificate could not be valid.
    public static let unusableSigner = Self("unusableSigner", .key)
    /// The passphrase does not open it.
    public static let wrongPassphrase = Self("wrongPassphrase", .key)
}
