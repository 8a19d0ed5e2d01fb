/// How the header of a message is protected when the message is signed or encrypted.
///
/// RFC 9788
public struct HeaderPolicy: Hashable, Sendable {
    /// Whether the header fields are signed and encrypted with the content.
    public var isProtected: Bool
    /// Which of them are hidden outside if the message is encrypted.
    public var confidentiality: HeaderConfidentiality
    /// Whether hidden fields are repeated in the text, for readers that do not support header protection.
    public var hasLegacyDisplay: Bool

    /// By default everything is protected and nothing is hidden.
    public init(
        isProtected: Bool = true,
        confidentiality: HeaderConfidentiality = .none,
        hasLegacyDisplay: Bool = false
    ) {
        self.isProtected = isProtected
        self.confidentiality = confidentiality
        self.hasLegacyDisplay = hasLegacyDisplay
    }

    /// The header stays outside, and out of the protection.
    public static let unprotected = HeaderPolicy(isProtected: false)

    /// The header protection for `HeaderSplit`, for an encrypted or a signed message.
    func protection(isEncrypted: Bool, hasLegacyDisplay: Bool = false) -> HeaderProtection? {
        guard isProtected else { return nil }
        return isEncrypted ? .cipher(confidentiality, hasLegacyDisplay: hasLegacyDisplay) : .clear
    }
}
