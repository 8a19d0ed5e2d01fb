public import Keystore
public import MIME
public import SMIME

extension Store {
    /// What becomes of the header of mail that `account` sends: by the account's own setting, then the store's,
    /// `header-protection`, `header-confidentiality` and `legacy-display`.
    ///
    /// - Parameter account: nil for a sender without an account.
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    public func headerPolicy(of account: Account?) async throws -> HeaderPolicy {
        try await headerPolicy(hiding: account?.headerConfidentiality)
    }

    /// What becomes of the header of mail from `sender`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    public func headerPolicy(for sender: EmailAddress?) async throws -> HeaderPolicy {
        guard let sender else { return try await headerPolicy(hiding: nil) }
        return try await headerPolicy(hiding: try await accounts.headerConfidentiality(for: sender))
    }

    private func headerPolicy(hiding own: HeaderConfidentiality?) async throws -> HeaderPolicy {
        let values = try await values(of: .headerConfidentiality, .headerProtection, .legacyDisplay)
        let standard = try values[.headerConfidentiality, HeaderConfidentiality.init(rawValue:)]
        return HeaderPolicy(
            isProtected: try values[.headerProtection, Setting.isOn],
            confidentiality: own ?? standard,
            hasLegacyDisplay: try values[.legacyDisplay, Setting.isOn]
        )
    }
}
