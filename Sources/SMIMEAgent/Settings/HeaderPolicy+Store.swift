import InternetMessage
package import SMIME
package import SMIMEStore

extension Store {
    /// The header protection of mail that `account` sends: the account's own setting, then the store's settings
    /// `header-protection`, `header-confidentiality` and `legacy-display`.
    ///
    /// - Parameter account: nil for a sender without an account.
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func headerPolicy(of account: AccountSummary?) async throws -> HeaderPolicy {
        var policy = try await decodedSettings { values in
            HeaderPolicy(
                isProtected: try values[.headerProtection, Setting.isOn],
                confidentiality: try values[.headerConfidentiality, HeaderConfidentiality.init(rawValue:)],
                hasLegacyDisplay: try values[.legacyDisplay, Setting.isOn]
            )
        }
        if let confidentiality = account?.headerConfidentiality { policy.confidentiality = confidentiality }
        return policy
    }
}
