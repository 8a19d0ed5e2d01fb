import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import MailFilter

/// What can be set with `config`.
enum Setting: String, CaseIterable, ExpressibleByArgument {
    case encryptionCipher = "encryption.cipher"
    case encryptionFloor = "encryption.floor"
    case authservID = "filter.authserv-id"
    case decryptedSender = "filter.decrypted-sender"
    case filterLog = "filter.log"
    case filterTags = "filter.tags"
    case sendmail = "filter.sendmail"
    case headerConfidentiality = "header-confidentiality"
    case headerProtection = "header-protection"
    case legacyDisplay = "legacy-display"
    case lookupDirectory = "lookup.directory"
    case lookupDirectoryTimeout = "lookup.directory.timeout"
    case lookupSources = "lookup.sources"
    case revocationDirectory = "revocation.directory"
    case revocationOnline = "revocation.online"
    case revocationPrivateAddresses = "revocation.private-addresses"
    case revocationTimeout = "revocation.timeout"
    case subjectTags = "subject-tags"

    /// What holds where nothing was set.
    var standard: String {
        switch self {
        case .encryptionCipher: "aes-256-gcm"
        case .encryptionFloor: "aes-128-cbc"
        case .authservID, .decryptedSender: ""
        case .filterLog: FilterLog.Target.syslog.rawValue
        case .filterTags, .revocationOnline, .revocationPrivateAddresses: "off"
        case .sendmail: "\(SendmailCommand.standard)"
        case .headerConfidentiality: HeaderSetting.confidentiality.standard
        case .headerProtection: HeaderSetting.protection.standard
        case .legacyDisplay: HeaderSetting.legacyDisplay.standard
        case .lookupDirectory, .revocationDirectory: ""
        case .lookupDirectoryTimeout: "2s"
        case .revocationTimeout: "5s"
        case .lookupSources: "registry directory"
        case .subjectTags: "\(SubjectTags.standard)"
        }
    }

    /// Whether `value` says something.
    func accepts(_ value: String) -> Bool {
        switch self {
        case .encryptionCipher: CipherPreferences(parsing: value) != nil
        case .encryptionFloor: ContentCipher(writable: value) != nil
        case .authservID: AuthservID(argument: value) != nil
        case .decryptedSender: value.isEmpty || (try? EmailAddress(value)) != nil
        case .filterLog: FilterLog.Target(rawValue: value) != nil
        case .filterTags, .revocationOnline, .revocationPrivateAddresses: ["on", "off"].contains(value)
        case .sendmail: SendmailCommand(argument: value) != nil
        case .headerConfidentiality: HeaderSetting.confidentiality.accepts(value)
        case .headerProtection: HeaderSetting.protection.accepts(value)
        case .legacyDisplay: HeaderSetting.legacyDisplay.accepts(value)
        case .lookupDirectory, .revocationDirectory: value.isEmpty || value.hasPrefix("/") && !value.contains("\0")
        case .lookupDirectoryTimeout, .revocationTimeout: Self.timeLimit(value) != nil
        case .lookupSources: Self.sources(value) != nil
        case .subjectTags: SubjectTags(parsing: value) != nil
        }
    }

    /// What it can be, in words.
    var expectation: String {
        switch self {
        case .encryptionCipher: "a cipher, and others for domains or senders, as 'aes-256-gcm example.org=aes-256-cbc'"
        case .encryptionFloor: "one of \(ContentCipher.writable.map(\.name).joined(separator: ", "))"
        case .authservID: "a host name"
        case .decryptedSender: "an address, or nothing"
        case .filterLog: FilterLog.Target.allCases.map(\.rawValue).joined(separator: ", ")
        case .filterTags, .headerProtection, .legacyDisplay, .revocationOnline, .revocationPrivateAddresses: "on or off"
        case .sendmail: "a program by its whole path, and its arguments"
        case .headerConfidentiality: "one of \(HeaderConfidentiality.allCases.map(\.rawValue).joined(separator: ", "))"
        case .lookupDirectory, .revocationDirectory: "a folder by its whole path"
        case .lookupDirectoryTimeout, .revocationTimeout: "a time like 2s or 500ms, up to 300s"
        case .lookupSources: "registry, or registry and directory"
        case .subjectTags: "tags and what they mean, as '[encrypt] encrypt=require'"
        }
    }

    /// The sources after the registry that `value` names; nil if the registry is not the first, one is unknown, or one
    /// is named twice.
    fileprivate static func sources(_ value: String) -> [String]? {
        let names = value.split { $0 == " " || $0 == "," }.map(String.init)
        guard names.first == "registry", names.allSatisfy(["registry", "directory"].contains),
            Set(names).count == names.count
        else { return nil }
        return Array(names.dropFirst())
    }

    /// `2s`, `500ms`: from ten milliseconds to five minutes.
    static func timeLimit(_ value: String) -> Duration? {
        let (number, unit) = value.hasSuffix("ms") ? (value.dropLast(2), 1) : (value.dropLast(), 1000)
        guard value.hasSuffix("s"), let count = Int(number), (1...300_000).contains(count),
            (10...300_000).contains(count * unit)
        else { return nil }
        return .milliseconds(count * unit)
    }
}

extension Store {
    /// What subject tags mean, by the store's setting.
    ///
    /// - Throws: `Failure` with status 78 if the setting cannot be read.
    func subjectTags() async throws -> SubjectTags {
        try await value(of: .subjectTags, SubjectTags.init(parsing:)) ?? .standard
    }

    /// Which ciphers are used where nothing is known of the recipients, by the store's settings.
    ///
    /// - Throws: `Failure` with status 78 if a setting cannot be read.
    func cipherPreferences() async throws -> CipherPreferences {
        let made = try await settings.all()
        func value(_ setting: Setting) -> String { made[setting.rawValue] ?? setting.standard }
        guard let floor = ContentCipher(writable: value(.encryptionFloor)) else {
            throw Self.unreadable(.encryptionFloor)
        }
        guard let preferences = CipherPreferences(parsing: value(.encryptionCipher), floor: floor) else {
            throw Self.unreadable(.encryptionCipher)
        }
        return preferences
    }

    /// Makes `cipher` the rule of the setting encryption.cipher for mail from `sender`, or takes that rule away.
    ///
    /// - Throws: `Failure` with status 64 if the address cannot stand in the setting, 78 if that cannot be read.
    func setCipher(_ cipher: ContentCipher?, for sender: EmailAddress) async throws {
        let setting = Setting.encryptionCipher
        let made = try await settings.value(of: setting.rawValue) ?? setting.standard
        guard CipherPreferences(parsing: made) != nil else { throw Self.unreadable(setting) }
        guard CipherPreferences.text(made, sender, cipher: cipher) != nil else {
            throw Failure(.usage, "--cipher: \(sender) cannot stand in the setting \(setting.rawValue)")
        }
        try await settings.change(setting.rawValue) { old in
            let changed = CipherPreferences.text(old ?? setting.standard, sender, cipher: cipher) ?? old
            return changed == setting.standard ? nil : changed
        }
    }

    /// Where certificates of recipients are looked up after the registry, by the store's settings.
    ///
    /// - Throws: `Failure` with status 78 if a setting cannot be read.
    func lookupSources() async throws -> [any CertificateSource] {
        let made = try await settings.all()
        func value(_ setting: Setting) -> String { made[setting.rawValue] ?? setting.standard }
        guard let names = Setting.sources(value(.lookupSources)) else { throw Self.unreadable(.lookupSources) }
        return try names.compactMap { _ in
            let path = value(.lookupDirectory)
            guard !path.isEmpty else { return nil }
            guard let limit = Setting.timeLimit(value(.lookupDirectoryTimeout)) else {
                throw Self.unreadable(.lookupDirectoryTimeout)
            }
            return DirectorySource(path: path, timeLimit: limit)
        }
    }

    /// The look-up of recipients' certificates, by the store's settings.
    ///
    /// - Parameters:
    ///   - lists: those of the folder, which count beside those of `terms`.
    ///   - online: who is asked about revocation where nothing at hand tells.
    func lookup(
        systemAnchors: Bool,
        terms: TrustTerms = TrustTerms(),
        lists: FolderLists = FolderLists(),
        online: OnlineRevocation? = nil
    ) async throws -> RecipientLookup {
        var terms = terms
        terms.certificateLists += try await lists.lists(in: self)
        return RecipientLookup(
            store: self,
            sources: try await lookupSources(),
            systemAnchors: systemAnchors,
            terms: terms,
            revocation: online
        )
    }

    /// The lists in the folder that the store's settings name; none if they name none.
    ///
    /// - Throws: `Failure` with status 78 if the folder cannot be read.
    func revocationLists() async throws -> [CertificateList] {
        guard let path = try await settings.value(of: Setting.revocationDirectory.rawValue), !path.isEmpty else {
            return []
        }
        return try RevocationFolder(path: path).lists()
    }

    private static func unreadable(_ setting: Setting) -> Failure {
        Failure(
            .configuration,
            "the setting \(setting.rawValue) has a value that this smime does not understand",
            hints: ["`smime config list` shows it; smime config unset \(setting.rawValue)"]
        )
    }

    /// The setting `setting` as a value; nil if it was not made.
    ///
    /// - Throws: `Failure` with status 78 if the setting cannot be read.
    func value<Value>(of setting: Setting, _ read: (String) -> Value?) async throws -> Value? {
        guard let text = try await settings.value(of: setting.rawValue) else { return nil }
        guard let value = read(text) else {
            throw Self.unreadable(setting)
        }
        return value
    }
}
