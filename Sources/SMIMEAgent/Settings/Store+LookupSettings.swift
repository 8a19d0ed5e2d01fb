import CertificateDiscovery
package import SMIMEStore

/// The settings whose names begin with `lookup.`.
extension Store {
    /// The sources of recipients' certificates after the registry, in the order of `lookup.order`. A source without settings
    /// of its own is left out.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func lookupSources() async throws -> [any CertificateSource] {
        // Usually there are no sources, and nothing has to be created for a message.
        let areNone = try await decodedSettings { try Self.sources($0).isEmpty }
        return areNone ? [] : try Self.sources(try await settingValues())
    }

    private static func sources(_ values: SettingValues) throws(SettingError) -> [any CertificateSource] {
        var sources: [any CertificateSource] = []
        for name in try values[.lookupOrder, Setting.sources] {
            if let source = try source(name, values) { sources.append(source) }
        }
        return sources
    }

    /// How long remote sources may take, and how long their answers are used: `lookup.budget`, `lookup.cache`,
    /// `lookup.cache.none`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func lookupLimits() async throws -> LookupLimits {
        try await decodedSettings { values in
            LookupLimits(
                budget: try values[.lookupBudget, Setting.timeLimit],
                retention: try values[.lookupCache, Setting.retention],
                retentionOfNone: try values[.lookupCacheOfNone, Setting.retention]
            )
        }
    }

    /// The directory of the setting `lookup.ldap`; nil if the setting is empty.
    private static func ldapSource(_ values: SettingValues) throws(SettingError) -> LDAPSource? {
        let text = try values[.lookupLDAP, { $0 }]
        guard !text.isEmpty else { return nil }
        let authorities = try values[.lookupLDAPAuthorities, { $0 }]
        let name = try values[.lookupLDAPName, { $0 }]
        let password = try values[.lookupLDAPPassword, { $0 }]
        let directory = LDAPDirectory(
            url: try values[.lookupLDAP, LDAPURL.init],
            startsTLS: try values[.lookupLDAPStartTLS, Setting.isOn],
            authorities: authorities.isEmpty ? nil : authorities,
            credentials: name.isEmpty ? nil : LDAPDirectory.Credentials(name: name, passwordFile: password)
        )
        return LDAPSource(directory, url: text, timeLimit: try values[.lookupLDAPTimeout, Setting.timeLimit])
    }

    /// The source with this name; nil if the settings do not configure it.
    private static func source(
        _ name: String,
        _ values: SettingValues
    ) throws(SettingError) -> (any CertificateSource)? {
        switch name {
        case "directory":
            let path = try values[.lookupDirectory, { $0 }]
            let timeLimit = try values[.lookupDirectoryTimeout, Setting.timeLimit]
            return path.isEmpty ? nil : DirectorySource(path: path, timeLimit: timeLimit)
        case "command":
            let path = try values[.lookupCommand, { $0 }]
            let timeLimit = try values[.lookupCommandTimeout, Setting.timeLimit]
            return path.isEmpty ? nil : CommandSource(path: path, timeLimit: timeLimit)
        case "ldap": return try ldapSource(values)
        case "smimea":
            guard try values[.lookupSMIMEA, Setting.isOn] else { return nil }
            let resolver = try values[.lookupSMIMEAResolver, { $0 }]
            let anchors = try values[.lookupSMIMEATrustAnchor, { $0 }]
            return SMIMEASource(
                SecureResolver(
                    resolver: resolver.isEmpty ? nil : resolver,
                    anchors: anchors.isEmpty ? nil : anchors
                ),
                timeLimit: try values[.lookupSMIMEATimeout, Setting.timeLimit]
            )
        default: return nil
        }
    }
}
