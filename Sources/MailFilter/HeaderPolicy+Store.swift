public import Keystore
public import MIME
public import SMIME

/// What the store says about the headers of mail that is sent.
public enum HeaderSetting: String, CaseIterable, Sendable {
    case confidentiality = "header-confidentiality"
    case legacyDisplay = "legacy-display"
    case protection = "header-protection"

    /// What holds where nothing was set.
    public var standard: String {
        switch self {
        case .confidentiality: HeaderConfidentiality.none.rawValue
        case .legacyDisplay: "off"
        case .protection: "on"
        }
    }

    /// Whether `value` says something.
    public func accepts(_ value: String) -> Bool {
        switch self {
        case .confidentiality: HeaderConfidentiality(rawValue: value) != nil
        case .legacyDisplay, .protection: value == "on" || value == "off"
        }
    }
}

extension Store {
    /// What becomes of the header of mail that `account` sends: by the account's own setting, then the store's.
    ///
    /// - Parameter account: nil for a sender without an account.
    /// - Throws: `KeystoreError`
    public func headerPolicy(of account: Account?) async throws(KeystoreError) -> HeaderPolicy {
        let made = try await settings.all()
        func value(_ setting: HeaderSetting) -> String { made[setting.rawValue] ?? setting.standard }
        return HeaderPolicy(
            isProtected: value(.protection) == "on",
            confidentiality: account?.headerConfidentiality
                ?? HeaderConfidentiality(rawValue: value(.confidentiality)) ?? .none,
            hasLegacyDisplay: value(.legacyDisplay) == "on"
        )
    }

    /// What becomes of the header of mail from `sender`.
    ///
    /// - Throws: `KeystoreError`
    public func headerPolicy(for sender: EmailAddress?) async throws(KeystoreError) -> HeaderPolicy {
        try await headerPolicy(of: try await accounts.account(ifAnyFor: sender))
    }
}
