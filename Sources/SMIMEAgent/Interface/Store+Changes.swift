public import InternetMessage
public import PKIX
public import SMIME
public import SMIMEStore

extension Store {
    /// The value of a setting, or its default (`smime config get`).
    ///
    /// - Parameter name: the name that `smime config list` shows, such as `encryption.unknown`.
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
    ///   - name: the name that `smime config list` shows, such as `encryption.unknown`.
    ///   - value: the new value; nil restores the default.
    /// - Throws: `.unusableSetting` if there is no such setting, or it cannot have the value; `.storeReadOnly`,
    ///   `.storeUnusable`, `.storeBusy`, `.file`
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

    /// Sets the values of `rule` in the store's rule for the same scope; creates that rule if there is none (`smime policy
    /// set`).
    ///
    /// - Returns: the store's rule after the change.
    /// - Throws: `.storeReadOnly`, `.storeUnusable`, `.storeBusy`, `.file`
    @discardableResult
    public func changeRule(_ rule: Policy.Rule) async throws(SMIMEError) -> Policy.Rule {
        try await SMIMEError.inBackground { try await policy.set(rule) }
    }

    /// Removes the rule for `scope`, if there is one (`smime policy unset`).
    ///
    /// - Returns: the removed rule; nil if there was none.
    /// - Throws: the errors of `changeRule`
    @discardableResult
    public func removeRule(for scope: Policy.Scope) async throws(SMIMEError) -> Policy.Rule? {
        try await SMIMEError.inBackground { try await policy.unset(Policy.Rule(scope))?.before }
    }

    /// Sets the trust in a recipient's certificate (`smime recipient trust`, `distrust`): `.pinned` trusts the certificate
    /// without a chain, because a person compared its fingerprint; `.distrusted` never trusts it; `.chain` trusts it if its
    /// chain is valid.
    ///
    /// The decision applies to every certificate of the address with the same key.
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
