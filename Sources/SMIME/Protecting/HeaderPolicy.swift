/// What becomes of a message's header when the message is signed or encrypted.
///
/// RFC 9788
public struct HeaderPolicy: Hashable, Sendable {
    /// Whether the header fields are signed and encrypted with the content.
    public var isProtected: Bool
    /// Which of them are hidden outside if the message is encrypted.
    public var confidentiality: HeaderConfidentiality
    /// Whether hidden ones stand in the text, too, for readers that know no header protection.
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

    /// What `HeaderSplit` does for a message that is encrypted or only signed.
    func protection(isEncrypted: Bool, hasLegacyDisplay: Bool = false) -> HeaderProtection? {
        guard isProtected else { return nil }
        return isEncrypted ? .cipher(confidentiality, hasLegacyDisplay: hasLegacyDisplay) : .clear
    }
}
