extension SMIMEError.Code {
    /// A bug in this library or in libcrypto.
    public static let bug = Self("bug", .bug)
    /// Code of the caller that the library called threw an error: a sink, a key provider, a sequence of chunks. That error is
    /// the `underlyingError`. An `SMIMEError` that such code throws is not changed.
    public static let callback = Self("callback", .inputOutput)
    /// The task was cancelled.
    public static let cancelled = Self("cancelled", .temporary)
    /// The message only contains certificates; there is no content to open (RFC 8551 §3.8).
    public static let certificatesOnly = Self("certificatesOnly", .input)
    /// The cipher is weaker than the weakest allowed cipher.
    public static let cipherBelowFloor = Self("cipherBelowFloor", .configuration)
    /// Decryption failed. No reason is given, because the reason would help an attacker (RFC 3218).
    public static let decryptionFailed = Self("decryptionFailed", .input)
    /// A file cannot be opened, read, created or written.
    public static let file = Self("file", .inputOutput)
    /// The input exceeds a limit that protects against denial of service.
    public static let limitExceeded = Self("limitExceeded", .input)
    /// The input does not have the expected format.
    public static let malformed = Self("malformed", .input)
    /// The content is encrypted with a password or a shared key.
    public static let needsSecret = Self("needsSecret", .key)
    /// No cipher is announced by all recipients.
    public static let noCommonCipher = Self("noCommonCipher", .recipient)
    /// No private key belongs to the certificate.
    public static let noKeyPair = Self("noKeyPair", .key)
    /// The message is not encrypted.
    public static let notEncrypted = Self("notEncrypted", .input)
    /// The message is encrypted, but not for an available identity.
    public static let notForUs = Self("notForUs", .key)
    /// The content is encrypted with a cipher that does not detect changes, and the caller allows authenticated encryption
    /// only.
    public static let unauthenticated = Self("unauthenticated", .input)
    /// The algorithm or feature cannot be used here.
    public static let unsupported = Self("unsupported", .input)
    /// The certificate must not be used to encrypt.
    public static let unusableRecipient = Self("unusableRecipient", .recipient)
    /// A signature with this certificate would not be valid.
    public static let unusableSigner = Self("unusableSigner", .key)
    /// The passphrase is wrong.
    public static let wrongPassphrase = Self("wrongPassphrase", .key)
}
