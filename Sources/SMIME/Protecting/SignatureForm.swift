/// How a signature is embedded in a message.
@nonexhaustive
public enum SignatureForm: Sendable {
    /// multipart/signed: all mail programs can show the content (RFC 8551 §3.5.3).
    case detached
    /// application/pkcs7-mime: content and signature in one CMS object (RFC 8551 §3.5.2).
    case opaque
}
