/// How the header of a message is protected when the message is signed or encrypted.
///
/// RFC 9788
public struct HeaderPolicy: Hashable, Sendable {
    /// Whether the header fields are signed and encrypted with the content.
    public var isProtected: Bool
    /// Which header fields are hidden outside if the message is encrypted.
    public var confidentiality: HeaderConfidentiality
    /// Whether the text also contains the hidden fields, for mail programs without header protection.
    public var hasLegacyDisplay: Bool

    /// By default all header fields are protected and none is hidden.
    public init(
        isProtected: Bool = true,
        confidentiality: HeaderConfidentiality = .none,
        hasLegacyDisplay: Bool = false
    ) {
        self.isProtected = isProtected
        self.confidentiality = confidentiality
        self.hasLegacyDisplay = hasLegacyDisplay
    }

    /// The header stays outside and is not protected.
    public static let unprotected = HeaderPolicy(isProtected: false)

    /// The header protection for `HeaderSplit`; nil if the header is not protected.
    func protection(isEncrypted: Bool, hasLegacyDisplay: Bool = false) -> HeaderProtection? {
        guard isProtected else { return nil }
        return isEncrypted ? .cipher(confidentiality, hasLegacyDisplay: hasLegacyDisplay) : .clear
    }
}
