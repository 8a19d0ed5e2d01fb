import InternetMessage
package import SMIME
package import SMIMEStore

extension Store {
    /// What becomes of the header of mail that `account` sends: by the account's own setting, then the store's,
    /// `header-protection`, `header-confidentiality` and `legacy-display`.
    ///
    /// - Parameter account: nil for a sender without an account.
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func headerPolicy(of account: AccountSummary?) async throws -> HeaderPolicy {
        let values = try await settingValues()
        let standard = try values[.headerConfidentiality, HeaderConfidentiality.init(rawValue:)]
        return HeaderPolicy(
            isProtected: try values[.headerProtection, Setting.isOn],
            confidentiality: account?.headerConfidentiality ?? standard,
            hasLegacyDisplay: try values[.legacyDisplay, Setting.isOn]
        )
    }
}
