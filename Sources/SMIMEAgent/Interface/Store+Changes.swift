public import InternetMessage
public import PKIX
public import SMIME
public import SMIMEStore

extension Store {
    /// The value of a setting, or its default (`smime config get`).
    ///
    /// - Parameter name: as `smime config list` shows it, such as `encryption.unknown`.
    /// - Throws: `.unusableSetting` if there is no such setting; `.storeUnusable`, `.storeBusy`
    public func setting(_ name: String) async throws(SMIMEError) -> String {
        try await SMIMEError.inBackground {
            let key = try Self.settingKey(name)
            return try await settings.value(of: key.name) ?? key.setting.standard
        }
    }

    /// Changes a setting (`smime config set`).
    ///
    /// - Parameters:
    ///   - name: as `smime config list` shows it, such as `encryption.unknown`.
    ///   - value: nil is the default from now on.
    /// - Throws: `.unusableSetting` if there is no such setting, or it cannot have the value; `.storeReadOnly`, `.storeUnusable`,
    ///   `.storeBusy`, `.file`
    public func changeSetting(_ name: String, to value: String?) async throws(SMIMEError) {
        try await SMIMEError.inBackground {
            let key = try Self.settingKey(name)
            if let value, !key.setting.accepts(value) {
                throw SMIMEError(.unusableSetting, "the setting \(key.name) cannot be '\(value)'")
            }
            try await settings.set(key.name, to: value)
        }
    }

    private static func settingKey(_ name: String) throws -> SettingKey {
        guard let key = SettingKey(name) else {
            throw SMIMEError(.unusableSetting, "there is no setting '\(name)'")
        }
        return key
    }

    /// Sets the values of `rule` in the rule of the same scope, which is created if there is none (`smime policy set`).
    ///
    /// - Returns: the rule as it is now.
    /// - Throws: `.storeReadOnly`, `.storeUnusable`, `.storeBusy`, `.file`
    @discardableResult
    public func changeRule(_ rule: Policy.Rule) async throws(SMIMEError) -> Policy.Rule {
        try await SMIMEError.inBackground { try await policy.set(rule) }
    }

    /// Removes the rule of `scope`, if there is one (`smime policy unset`).
    ///
    /// - Returns: the rule that was there.
    /// - Throws: as `changeRule`
    @discardableResult
    public func removeRule(for scope: Policy.Scope) async throws(SMIMEError) -> Policy.Rule? {
        try await SMIMEError.inBackground { try await policy.unset(Policy.Rule(scope))?.before }
    }

    /// Sets the trust in a recipient's certificate: `.pinned` without a chain, since its fingerprint was compared; `.distrusted` never;
    /// `.chain` according to its chain (`smime recipient trust`, `distrust`).
    ///
    /// It counts for every certificate of the address with the same key.
    ///
    /// - Throws: `.unknownRecipient`, `.unknownCertificate`, `.storeReadOnly`, `.storeUnusable`, `.storeBusy`, `.file`
    public func changeTrust(
        in certificate: Certificate,
        of address: EmailAddress,
        to trust: KnownRecipient.Trust
    ) async throws(SMIMEError) {
        try await SMIMEError.inBackground {
            _ = try await recipients.setTrust(
                trust,
                of: AddressScope(address),
                fingerprint: certificate.fingerprint
            )
        }
    }
}
