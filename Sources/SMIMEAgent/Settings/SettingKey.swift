package import InternetMessage

/// The name of a setting in a store: the name of a `Setting`, and for some settings a domain that the value applies to.
package struct SettingKey: Hashable, Sendable {
    /// The setting.
    package let setting: Setting
    /// The domain that the setting applies to, in lower case and with A-labels; nil if it applies to all domains without a
    /// value of their own.
    package let domain: String?

    /// The setting for all domains.
    package init(_ setting: Setting) {
        self.setting = setting
        domain = nil
    }

    /// The setting for mail of `sender`'s domain; nil if the setting cannot be set for a domain.
    package init?(_ setting: Setting, domainOf sender: EmailAddress) {
        guard setting.isPerDomain else { return nil }
        self.setting = setting
        domain = sender.asciiDomain
    }

    /// Parses a name such as `filter.tags` or `filter.bounce-text.example.org`; nil if there is no such setting.
    package init?(_ name: String) {
        if let setting = Setting(rawValue: name) {
            self.init(setting)
            return
        }
        guard let setting = Setting.allCases.first(where: { $0.isPerDomain && name.hasPrefix($0.rawValue + ".") }),
            let address = try? EmailAddress("postmaster@\(name.dropFirst(setting.rawValue.count + 1))")
        else { return nil }
        self.init(setting, domainOf: address)
    }

    /// The name under which the store keeps the value.
    package var name: String { domain.map { "\(setting.rawValue).\($0)" } ?? setting.rawValue }
}

extension Setting {
    /// Whether the setting can also be set for single domains.
    package var isPerDomain: Bool { self == .bounceText }
}
