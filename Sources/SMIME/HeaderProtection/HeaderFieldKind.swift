package import InternetMessage

/// How header protection treats a header field.
///
/// RFC 9788 §1.8, §2
enum HeaderFieldKind {
    /// The field was added in transit, or is meant only for mail servers or Bcc recipients. It is not copied into the
    /// protected part.
    case transport
    /// The field belongs to header protection itself (HP-Outer).
    case mechanism
    /// The field is part of the message that the sender wrote.
    case message
    /// The field describes the body (RFC 9788: "structural").
    case structural

    init(_ field: HeaderField) {
        let name = field.name.lowercased()
        if field.isStructural {
            self = .structural
        } else if name == HeaderProtection.recordName {
            self = .mechanism
        } else if Self.transportNames.contains(name) || name.hasPrefix("arc-") || name.hasPrefix("x-smime-") {
            self = .transport
        } else {
            self = .message
        }
    }

    private static let transportNames: Set = [
        "authentication-results", "bcc", "delivered-to", "dkim-signature", "domainkey-signature", "envelope-to",
        "received", "received-spf", "resent-bcc", "return-path", "x-envelope-to", "x-original-to",
    ]

    /// The fields that mail programs display or act upon (RFC 9788: "user-facing"). Users must be able to tell unprotected
    /// fields of these names from protected ones.
    static let userFacingNames: Set = [
        "autocrypt", "cc", "comments", "date", "disposition-notification-to", "followup-to", "from", "in-reply-to",
        "keywords", "mail-followup-to", "mail-reply-to", "message-id", "references", "reply-to", "return-receipt-to",
        "sender", "subject", "to",
    ]

    /// The fields that a gateway restores from an encrypted header: fields that people read, or that mail programs use for
    /// threading. Scanners, lists and filters rely on the other fields, so those fields must not come from content that
    /// scanners could not read.
    static let gatewayNames: Set = [
        "cc", "comments", "date", "from", "in-reply-to", "keywords", "message-id", "references", "reply-to", "subject",
        "to",
    ]

    /// The content fields that a gateway restores from an encrypted part: the MIME fields, in lower case.
    ///
    /// RFC 2045 §3, RFC 2183, RFC 3282
    static let gatewayContentNames: Set = [
        "content-description", "content-disposition", "content-id", "content-language", "content-transfer-encoding",
        "content-type", "mime-version",
    ]

    /// The fields that contain addresses, in lower case, except those of the kind `transport`.
    static let addressNames: Set = [
        "cc", "disposition-notification-to", "from", "mail-followup-to", "mail-reply-to", "reply-to", "resent-cc",
        "resent-from", "resent-sender", "resent-to", "return-receipt-to", "sender", "to",
    ]

    /// The fields of `gatewayNames` that may occur several times in a message (RFC 5322 §3.6.5).
    static let repeatedNames: Set = ["comments", "keywords"]

    /// Required fields, which mail servers add if the author omitted them (RFC 6409 §8.2, §8.3).
    static let serverAddedNames: Set = ["date", "message-id"]
}

extension HeaderField {
    /// The names of the fields that name recipients whom the other recipients must not see.
    package static let hiddenRecipientNames: Set = ["Bcc", "Resent-Bcc"]

    /// Whether the field names recipients whom the other recipients must not see.
    package var namesHiddenRecipients: Bool { Self.hiddenRecipientNames.contains { isNamed($0) } }
}
