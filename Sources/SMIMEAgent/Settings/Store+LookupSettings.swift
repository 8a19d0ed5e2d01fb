package import SMIMEStore

/// The settings `lookup.…`, read from the store every time.
extension Store {
    /// The sources of recipients' certificates after the registry, in the order of `lookup.sources`: those that have settings of their
    /// own.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func lookupSources() async throws -> [any CertificateSource] {
        let values = try await settingValues()
        return try values[.lookupSources, Setting.sources].compactMap { try Self.source($0, values) }
    }

    /// How long remote sources may take, and how long their answers are kept: `lookup.budget`, `lookup.cache`, `lookup.cache.none`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func lookupLimits() async throws -> LookupLimits {
        let values = try await settingValues()
        return LookupLimits(
            budget: try values[.lookupBudget, Setting.timeLimit],
            retention: try values[.lookupCache, Setting.retention],
            retentionOfNone: try values[.lookupCacheOfNone, Setting.retention]
        )
    }

    /// The source of this name; nil if its settings name none.
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
        default: return nil
        }
    }
}
