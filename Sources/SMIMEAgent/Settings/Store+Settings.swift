import CMSSyntax
package import InternetMessage
package import PKIX
package import SMIME
package import SMIMEStore

/// The settings of the store as typed values.
extension Store {
    /// The value of `setting` as `read` parses it; the default if it is not set.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func value<Value>(of setting: Setting, _ read: (String) -> Value?) async throws -> Value {
        try await settingValues()[setting, read]
    }

    /// The values of all settings in one snapshot of the store.
    package func settingValues() async throws(KeystoreError) -> SettingValues {
        SettingValues(stored: try await settings.all())
    }

    /// The value that `decode` makes from the settings. During one message, `decode` is called only once, unless the
    /// store changes or this host has settings of its own.
    ///
    /// - Parameter key: identifies the value in the cache; by default the name of the calling function.
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func decodedSettings<Value: Sendable>(
        cachedAs key: String = #function,
        _ decode: (SettingValues) throws -> Value
    ) async throws -> Value {
        try await settings.decoded(key) { try decode(SettingValues(stored: $0)) }
    }

    /// The meanings of subject tags: `subject-tags`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func subjectTags() async throws -> SubjectTags {
        try await decodedSettings { try $0[.subjectTags, SubjectTags.init(parsing:)] }
    }

    /// The ciphers for recipients whose capabilities are unknown, and the weakest cipher that is ever used:
    /// `encryption.unknown`, `encryption.floor`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func cipherPreferences() async throws -> CipherPreferences {
        try await decodedSettings { values in
            let floor = try values[.encryptionFloor, { ContentCipher(writable: $0) }]
            return try values[.encryptionUnknown, { CipherPreferences(parsing: $0, floor: floor) }]
        }
    }

    /// The revocation lists in the folder that `revocation.directory` names, each with the path of its file; empty if the
    /// setting is empty.
    ///
    /// - Parameter warn: called for files in the folder that are ignored: unreadable files, files without a revocation list,
    ///   and files beyond the limits.
    /// - Throws: `SettingError.folderUnreadable`, `KeystoreError`
    package func filedRevocationLists(
        warn: @Sendable (String) -> Void = { _ in }
    ) async throws -> FiledRevocationLists {
        let path = try await value(of: .revocationDirectory) { $0 }
        return path.isEmpty ? FiledRevocationLists() : try RevocationFolder(path: path).lists(warn: warn)
    }

    /// Whether services are asked about revocation over the network, and how: `revocation.online`,
    /// `revocation.timeout`, `revocation.private-addresses`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func revocationServices() async throws -> RevocationServices {
        try await decodedSettings { values in
            RevocationServices(
                areAsked: try values[.revocationOnline, Setting.isOn],
                timeLimit: try values[.revocationTimeout, Setting.timeLimit],
                allowsPrivateAddresses: try values[.revocationPrivateAddresses, Setting.isOn]
            )
        }
    }

    /// The exceptions for verdicts: `verify.accept-sender`, `verify.accept-weak`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func verdictExceptions() async throws -> VerdictExceptions {
        try await decodedSettings { values in
            var exceptions: VerdictExceptions = []
            if try values[.acceptSender, Setting.isOn] { exceptions.insert(.sender) }
            if try values[.acceptWeak, Setting.isOn] { exceptions.insert(.weakAlgorithms) }
            return exceptions
        }
    }

    /// Whether the verdict on incoming mail is also written into the subject: `filter.tags`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func tagsSubjects() async throws -> Bool {
        try await decodedSettings { try $0[.filterTags, Setting.isOn] }
    }

    /// Which characters begin a detail in an address: `filter.recipient-delimiter`.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func subaddressing() async throws -> Subaddressing {
        try await decodedSettings { try $0[.recipientDelimiter, Subaddressing.init(parsing:)] }
    }

    /// The sentence for readers of bounces to `sender`: the setting `filter.bounce-text` for the sender's domain, or else
    /// the general one; the default sentence if neither is set.
    ///
    /// - Throws: `KeystoreError`
    package func bounceText(for sender: EmailAddress?) async throws -> String {
        let stored = try await settings.all()
        let own = sender.flatMap { SettingKey(.bounceText, domainOf: $0) }.flatMap { stored[$0.name] }
        return own ?? stored[Setting.bounceText.rawValue] ?? Setting.bounceText.standard
    }

    /// The look-up of recipients' certificates.
    ///
    /// - Parameters:
    ///   - options: how strictly the certificates are judged. The revocation lists of the folder are added, unless revocation
    ///     checks are off.
    ///   - sources: the sources after the registry; if nil, the settings decide.
    ///   - lists: the revocation lists of the folder that a setting names.
    ///   - revocation: the services to ask if the stored data does not decide.
    /// - Throws: `SettingError`, `KeystoreError`
    package func lookup(
        systemAnchors: Bool,
        options: ValidationOptions = ValidationOptions(),
        sources: [any CertificateSource]? = nil,
        lists: FolderLists,
        revocation: (any RevocationSource)? = nil
    ) async throws -> RecipientLookup {
        let sources = if let sources { sources } else { try await lookupSources() }
        var lookup = RecipientLookup(
            store: self,
            sources: sources,
            systemAnchors: systemAnchors,
            options: try await lists.added(to: options, in: self),
            revocation: revocation
        )
        lookup.limits = try await lookupLimits()
        let subaddressing = try await subaddressing()
        lookup.ownForms = { subaddressing.implied(by: $0) }
        return lookup
    }
}

/// The values of settings in a store.
package struct SettingValues {
    /// The values that are set, by the setting's name.
    let stored: [String: String]

    /// The value of `setting` as `read` parses it; the default if it is not set.
    package subscript<Value>(_ setting: Setting, _ read: (String) -> Value?) -> Value {
        get throws(SettingError) {
            guard let value = read(stored[setting.rawValue] ?? setting.standard) else { throw .notUnderstood(setting) }
            return value
        }
    }
}

/// How to ask the revocation services that certificates name.
package struct RevocationServices: Hashable, Sendable {
    /// Whether the services are asked at all.
    package let areAsked: Bool
    /// How long one service may take to answer.
    package let timeLimit: Duration
    /// Whether services in private networks are asked, too.
    package let allowsPrivateAddresses: Bool
}

extension Store {
    /// The header protection of mail from `senders`, from the store's settings `header-protection`, `header-confidentiality`
    /// and `legacy-display`. The accounts' own header confidentiality takes precedence; if several senders have accounts, the
    /// one that hides most counts.
    ///
    /// - Parameter senders: the envelope sender, and the addresses that the message names as its authors and senders.
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func headerPolicy(ofMailFrom senders: Set<EmailAddress>) async throws -> HeaderPolicy {
        var policy = try await decodedSettings { values in
            HeaderPolicy(
                isProtected: try values[.headerProtection, Setting.isOn],
                confidentiality: try values[.headerConfidentiality, HeaderConfidentiality.init(rawValue:)],
                hasLegacyDisplay: try values[.legacyDisplay, Setting.isOn]
            )
        }
        let subaddressing = try await subaddressing()
        var chosen: [HeaderConfidentiality] = []
        for sender in senders {
            guard let own = try await hiding(for: sender, subaddressing) else { continue }
            chosen.append(own ?? policy.confidentiality)
        }
        if let strictest = chosen.max(by: { $0.strictness < $1.strictness }) { policy.confidentiality = strictest }
        return policy
    }

    /// The header confidentiality of the account of `sender`; nil if there is no account, and nil inside if the account has no
    /// setting of its own.
    private func hiding(
        for sender: EmailAddress,
        _ subaddressing: Subaddressing
    ) async throws(KeystoreError) -> HeaderConfidentiality?? {
        // Without a detail in the address, the identities of the account need not be read.
        guard subaddressing.base(of: sender) != nil else {
            return try await accounts.summary(of: sender).map(\.headerConfidentiality)
        }
        return try await read { try $0.account(for: sender, subaddressing) }.map(\.headerConfidentiality)
    }
}

extension HeaderBlock {
    /// The addresses in From and Sender, also those of people who resent the message (RFC 5322 §3.6.6).
    package var senders: Set<EmailAddress> {
        ["From", "Sender", "Resent-From", "Resent-Sender"].reduce(into: []) { $0.formUnion(readableAddresses($1)) }
    }
}

extension HeaderConfidentiality {
    /// A higher number if more is hidden.
    fileprivate var strictness: Int {
        switch self {
        case .none: 0
        case .baseline: 1
        case .shy: 2
        }
    }
}
