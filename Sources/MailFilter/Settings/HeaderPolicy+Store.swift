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
        let standard = try await value(of: .headerConfidentiality, HeaderConfidentiality.init(rawValue:))
        return HeaderPolicy(
            isProtected: try await value(of: .headerProtection, Setting.isOn),
            confidentiality: account?.headerConfidentiality ?? standard,
            hasLegacyDisplay: try await value(of: .legacyDisplay, Setting.isOn)
        )
    }

    /// What becomes of the header of mail from `sender`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    public func headerPolicy(for sender: EmailAddress?) async throws -> HeaderPolicy {
        try await headerPolicy(of: try await accounts.account(ifAnyFor: sender))
    }
}
