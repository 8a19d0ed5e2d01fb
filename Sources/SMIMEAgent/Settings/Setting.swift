import CMSSyntax
import CertificateDiscovery
import Foundation
package import InternetMessage
import SMIME

/// The settings of a store: the names that `smime config` accepts, and the form of their values.
package enum Setting: String, CaseIterable, Sendable {
    /// The weakest cipher that is ever used.
    case encryptionFloor = "encryption.floor"
    /// The cipher for recipients whose ciphers are unknown, in the form that `CipherPreferences` reads.
    case encryptionUnknown = "encryption.unknown"
    /// The name of this host in verdicts (authserv-id, RFC 8601 §2.5); if empty, the host's full name.
    case authservID = "filter.authserv-id"
    /// A sentence for readers of bounces. If a domain follows the setting's name, the sentence is for senders of that domain.
    case bounceText = "filter.bounce-text"
    /// The envelope sender of decrypted mail, to which its bounces go; if empty, the null sender.
    case decryptedSender = "filter.decrypted-sender"
    /// Where `smime filter` writes the log line for each mail: a `LogTarget`.
    case filterLog = "filter.log"
    /// Whether the verdict is also written into the subject.
    case filterTags = "filter.tags"
    /// The characters that begin a detail in an address: `Subaddressing`. The account and the rules of a sender's address
    /// without its detail also apply to the address with it; of a recipient's rules only the requirements.
    case recipientDelimiter = "filter.recipient-delimiter"
    /// The program that sends mail, in the form that `SendmailCommand` reads.
    case sendmail = "filter.sendmail"
    /// Which header fields encrypted mail hides, for accounts without a setting of their own.
    case headerConfidentiality = "header-confidentiality"
    /// Whether the header is signed and encrypted with the content.
    case headerProtection = "header-protection"
    /// Whether hidden header fields are repeated in the text.
    case legacyDisplay = "legacy-display"
    /// How long remote sources may delay one message in total, such as `10s`.
    case lookupBudget = "lookup.budget"
    /// How long certificates from remote sources are used without a new look-up, such as `1h`.
    case lookupCache = "lookup.cache"
    /// How long a remote source's answer "no certificate" is used without a new look-up, such as `10m`.
    case lookupCacheOfNone = "lookup.cache.none"
    /// A program that prints the certificates of an address; if empty, no program is called.
    case lookupCommand = "lookup.command"
    /// How long the program of `lookup.command` may take, such as `5s` or `500ms`.
    case lookupCommandTimeout = "lookup.command.timeout"
    /// A folder of recipients' certificates; if empty, there is no such folder.
    case lookupDirectory = "lookup.directory"
    /// How long reading the folder of `lookup.directory` may take, such as `2s` or `500ms`.
    case lookupDirectoryTimeout = "lookup.directory.timeout"
    /// An LDAP directory, in the form that `LDAPURL` reads; if empty, no LDAP directory is searched.
    case lookupLDAP = "lookup.ldap"
    /// A file with the CA certificates for the TLS of the LDAP server; if empty, the system's CA certificates are used.
    case lookupLDAPAuthorities = "lookup.ldap.ca-file"
    /// The name for logging in to the LDAP directory; if empty, smime does not log in.
    case lookupLDAPName = "lookup.ldap.bind"
    /// A file with the password for the name of `lookup.ldap.bind`.
    case lookupLDAPPassword = "lookup.ldap.password-file"
    /// Whether smime starts TLS on an LDAP connection that begins without TLS.
    case lookupLDAPStartTLS = "lookup.ldap.starttls"
    /// How long a search in the LDAP directory may take, such as `5s` or `500ms`.
    case lookupLDAPTimeout = "lookup.ldap.timeout"
    /// Whether SMIMEA records are looked up.
    case lookupSMIMEA = "lookup.smimea"
    /// The address of the DNS resolver for SMIMEA records, with an optional port after an at sign; if empty, the host's
    /// resolvers are used.
    case lookupSMIMEAResolver = "lookup.smimea.resolver"
    /// How long the look-up of SMIMEA records may take, such as `5s` or `500ms`.
    case lookupSMIMEATimeout = "lookup.smimea.timeout"
    /// A file with the DNSSEC trust anchors; if empty, those of the DNS root are used.
    case lookupSMIMEATrustAnchor = "lookup.smimea.trust-anchor"
    /// The order in which the sources of recipients' certificates are asked; the registry is always the first.
    case lookupOrder = "lookup.order"
    /// A folder of revocation lists, which are used like those of the store; if empty, there is no such folder.
    case revocationDirectory = "revocation.directory"
    /// Whether the services that certificates name are asked about revocation.
    case revocationOnline = "revocation.online"
    /// Whether revocation services in private networks are asked, too.
    case revocationPrivateAddresses = "revocation.private-addresses"
    /// How long one revocation service may take to answer, such as `5s` or `500ms`.
    case revocationTimeout = "revocation.timeout"
    /// The tags and their requests, in the form that `SubjectTags` reads.
    case subjectTags = "subject-tags"
    /// Whether a signer that only the field Sender names is accepted as the author.
    case acceptSender = "verify.accept-sender"
    /// Whether SHA-1 and short keys cause only a warning, except keys that a single computer can break.
    case acceptWeak = "verify.accept-weak"

    /// Where `smime filter` writes the log line for each mail.
    package enum LogTarget: String, CaseIterable, Sendable {
        case none
        case stderr
        case syslog
    }

    /// The default value.
    package var standard: String {
        switch self {
        case .encryptionUnknown: "aes-256-gcm"
        case .encryptionFloor: "aes-128-cbc"
        case .authservID, .decryptedSender, .lookupCommand, .lookupDirectory, .lookupLDAP, .lookupLDAPAuthorities,
            .lookupLDAPName, .lookupLDAPPassword, .lookupSMIMEAResolver, .lookupSMIMEATrustAnchor, .revocationDirectory:
            ""
        case .bounceText: "If you do not know what to do, ask your mail administrator"
        case .filterLog: LogTarget.syslog.rawValue
        case .acceptSender, .acceptWeak, .filterTags, .legacyDisplay, .lookupSMIMEA, .revocationOnline,
            .revocationPrivateAddresses:
            "off"
        case .recipientDelimiter: "\(Subaddressing.standard)"
        case .sendmail: "\(SendmailCommand())"
        case .headerConfidentiality: HeaderConfidentiality.none.rawValue
        case .headerProtection, .lookupLDAPStartTLS: "on"
        case .lookupBudget: "10s"
        case .lookupCache: "1h"
        case .lookupCacheOfNone: "10m"
        case .lookupDirectoryTimeout: "2s"
        case .lookupCommandTimeout, .lookupLDAPTimeout, .lookupSMIMEATimeout, .revocationTimeout: "5s"
        case .lookupOrder: (["registry"] + Self.sourceNames).joined(separator: " ")
        case .subjectTags: "\(SubjectTags.standard)"
        }
    }

    /// Whether `value` is a valid value of this setting.
    package func accepts(_ value: String) -> Bool {
        switch self {
        case .encryptionUnknown: CipherPreferences(parsing: value) != nil
        case .encryptionFloor: ContentCipher(writable: value) != nil
        case .authservID: value.isEmpty || HostName(value) != nil
        case .bounceText:
            value.utf8.count <= 500 && !value.unicodeScalars.contains { $0.properties.generalCategory == .control }
        case .decryptedSender: value.isEmpty || (try? EmailAddress(value)) != nil
        case .filterLog: LogTarget(rawValue: value) != nil
        case .acceptSender, .acceptWeak, .filterTags, .headerProtection, .legacyDisplay, .lookupLDAPStartTLS,
            .lookupSMIMEA, .revocationOnline, .revocationPrivateAddresses:
            Self.isOn(value) != nil
        case .recipientDelimiter: Subaddressing(parsing: value) != nil
        case .sendmail: SendmailCommand(parsing: value) != nil
        case .headerConfidentiality: HeaderConfidentiality(rawValue: value) != nil
        // The command takes no arguments: a blank would become part of the path.
        case .lookupCommand where value.contains(where: \.isWhitespace): false
        case .lookupCommand, .lookupDirectory, .lookupLDAPAuthorities, .lookupLDAPPassword, .lookupSMIMEATrustAnchor,
            .revocationDirectory:
            value.isEmpty || value.hasPrefix("/") && !value.contains("\0")
        case .lookupCache, .lookupCacheOfNone: Self.retention(value) != nil
        case .lookupLDAP: value.isEmpty || LDAPURL(value) != nil
        case .lookupSMIMEAResolver: value.isEmpty || SecureResolver.isAddress(value)
        case .lookupLDAPName: !value.contains("\0")
        case .lookupBudget, .lookupCommandTimeout, .lookupDirectoryTimeout, .lookupLDAPTimeout,
            .lookupSMIMEATimeout, .revocationTimeout:
            Self.timeLimit(value) != nil
        case .lookupOrder: Self.sources(value) != nil
        case .subjectTags: SubjectTags(parsing: value) != nil
        }
    }

    /// Reads `on` or `off`; nil for another value.
    static func isOn(_ value: String) -> Bool? { value == "on" ? true : value == "off" ? false : nil }

    /// The sources that may follow the registry, in their default order. A source without settings of its own is not asked.
    package static let sourceNames = ["directory", "command", "ldap", "smimea"]

    /// The sources that `value` names after the registry; nil if the registry is not the first, a source is unknown, or a
    /// source is named twice.
    static func sources(_ value: String) -> [String]? {
        let names = value.split { $0 == " " || $0 == "," }.map(String.init)
        guard names.first == "registry", names.dropFirst().allSatisfy(sourceNames.contains),
            Set(names).count == names.count
        else { return nil }
        return Array(names.dropFirst())
    }

    /// Reads `30s`, `10m`, `1h` or `7d`, up to thirty days; `0s` means that nothing is stored. Nil for another value.
    static func retention(_ value: String) -> Duration? {
        let units = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        let longest = 30 * 86400
        guard let unit = value.last.flatMap({ units[String($0)] }), let count = Int(value.dropLast()),
            (0...longest).contains(count), count * unit <= longest
        else { return nil }
        return .seconds(count * unit)
    }

    /// Reads `2s` or `500ms`, from ten milliseconds to five minutes; nil for another value.
    static func timeLimit(_ value: String) -> Duration? {
        let (number, unit) = value.hasSuffix("ms") ? (value.dropLast(2), 1) : (value.dropLast(), 1000)
        guard value.hasSuffix("s"), let count = Int(number), (1...300_000).contains(count),
            (10...300_000).contains(count * unit)
        else { return nil }
        return .milliseconds(count * unit)
    }
}

/// Why a setting of the store cannot be used.
package enum SettingError: Error, Equatable, Sendable {
    /// The folder that `revocation.directory` names cannot be read.
    case folderUnreadable(path: String)
    /// The value of the setting is not understood; a newer version of smime may have stored it.
    case notUnderstood(Setting)
}

extension SettingError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .folderUnreadable(let path): "\(path): cannot be read, and the setting revocation.directory names it"
        case .notUnderstood(let setting):
            "the setting \(setting.rawValue) has a value that this smime does not understand"
        }
    }
}

extension SettingError: CodedError {
    package var code: SMIMEError.Code { .unusableSetting }
}

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
