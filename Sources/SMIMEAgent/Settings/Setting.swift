import CMSSyntax
import CertificateDiscovery
import Foundation
import InternetMessage
import SMIME

/// The settings of a store: the names that `smime config` accepts, and how their values are written.
package enum Setting: String, CaseIterable, Sendable {
    /// The weakest cipher that is ever used.
    case encryptionFloor = "encryption.floor"
    /// The cipher for recipients of whom no ciphers are known, as `CipherPreferences` reads it.
    case encryptionUnknown = "encryption.unknown"
    /// The name of this host in verdicts; empty for the host's full name.
    case authservID = "filter.authserv-id"
    /// A sentence for people in bounces; with a domain after the name, for senders of that domain.
    case bounceText = "filter.bounce-text"
    /// The address that is notified of decrypted mail which cannot be delivered; empty for none.
    case decryptedSender = "filter.decrypted-sender"
    /// The target of the log line that `smime filter` writes for each mail: a `LogTarget`.
    case filterLog = "filter.log"
    /// Whether the verdict is also written into the subject.
    case filterTags = "filter.tags"
    /// The characters that begin a detail in an address, which rules and accounts ignore: `Subaddressing`.
    case recipientDelimiter = "filter.recipient-delimiter"
    /// As `SendmailCommand` reads it.
    case sendmail = "filter.sendmail"
    /// What encrypted mail hides of its header, for accounts without a setting of their own.
    case headerConfidentiality = "header-confidentiality"
    /// Whether the header is signed and encrypted with the content.
    case headerProtection = "header-protection"
    /// Whether hidden header fields are repeated in the text.
    case legacyDisplay = "legacy-display"
    /// How long remote sources may hold up one message, as `10s`.
    case lookupBudget = "lookup.budget"
    /// How long certificates of remote sources are used without asking again, as `1h`.
    case lookupCache = "lookup.cache"
    /// How long a remote source's answer "no certificate" is kept, as `10m`.
    case lookupCacheOfNone = "lookup.cache.none"
    /// A program that prints the certificates of an address; empty for none.
    case lookupCommand = "lookup.command"
    /// How long that program may take, as `5s` or `500ms`.
    case lookupCommandTimeout = "lookup.command.timeout"
    /// A folder of recipients' certificates; empty for none.
    case lookupDirectory = "lookup.directory"
    /// How long that folder may take to answer, as `2s` or `500ms`.
    case lookupDirectoryTimeout = "lookup.directory.timeout"
    /// An LDAP directory, as `LDAPURL` reads it; empty for none.
    case lookupLDAP = "lookup.ldap"
    /// A file with the certificates of authorities for its TLS; empty for the system's.
    case lookupLDAPAuthorities = "lookup.ldap.ca-file"
    /// The name for logging in to the directory; empty for none.
    case lookupLDAPName = "lookup.ldap.bind"
    /// A file with the password for that name.
    case lookupLDAPPassword = "lookup.ldap.password-file"
    /// Whether TLS is started on a connection without it.
    case lookupLDAPStartTLS = "lookup.ldap.starttls"
    /// How long it may take, as `5s` or `500ms`.
    case lookupLDAPTimeout = "lookup.ldap.timeout"
    /// Whether SMIMEA records are asked for.
    case lookupSMIMEA = "lookup.smimea"
    /// The address of the resolver for them, with a port behind an at sign; empty for those of the host.
    case lookupSMIMEAResolver = "lookup.smimea.resolver"
    /// How long they may take, as `5s` or `500ms`.
    case lookupSMIMEATimeout = "lookup.smimea.timeout"
    /// A file with the keys that DNSSEC must lead to; empty for those of the root.
    case lookupSMIMEATrustAnchor = "lookup.smimea.trust-anchor"
    /// The sources of recipients' certificates in order, the registry first.
    case lookupOrder = "lookup.order"
    /// A folder of revocation lists, which are used like those of the store; empty for none.
    case revocationDirectory = "revocation.directory"
    /// Whether the services that certificates name are asked if they were revoked.
    case revocationOnline = "revocation.online"
    /// Whether such services are asked in private networks, too.
    case revocationPrivateAddresses = "revocation.private-addresses"
    /// How long one of them may take to answer, as `5s` or `500ms`.
    case revocationTimeout = "revocation.timeout"
    /// As `SubjectTags` reads it.
    case subjectTags = "subject-tags"
    /// Whether a signer that only the field Sender names counts as the author.
    case acceptSender = "verify.accept-sender"
    /// Whether SHA-1 and short keys only cause a warning.
    case acceptWeak = "verify.accept-weak"

    /// The target of the log line that `smime filter` writes for each mail.
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

    /// Whether `value` has an effect.
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
        // No arguments: a blank would become part of the path.
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

    /// `on`, `off`.
    static func isOn(_ value: String) -> Bool? { value == "on" ? true : value == "off" ? false : nil }

    /// The sources that may follow the registry, in their usual order. One without settings of its own is not asked.
    package static let sourceNames = ["directory", "command", "ldap", "smimea"]

    /// The sources after the registry that `value` names; nil if the registry is not the first, one is unknown, or one
    /// is named twice.
    static func sources(_ value: String) -> [String]? {
        let names = value.split { $0 == " " || $0 == "," }.map(String.init)
        guard names.first == "registry", names.dropFirst().allSatisfy(sourceNames.contains),
            Set(names).count == names.count
        else { return nil }
        return Array(names.dropFirst())
    }

    /// `30s`, `10m`, `1h`, `7d`: up to thirty days; `0s` for not at all.
    static func retention(_ value: String) -> Duration? {
        let units = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        let longest = 30 * 86400
        guard let unit = value.last.flatMap({ units[String($0)] }), let count = Int(value.dropLast()),
            (0...longest).contains(count), count * unit <= longest
        else { return nil }
        return .seconds(count * unit)
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

/// Why a setting of the store has no effect.
package enum SettingError: Error, Equatable, Sendable {
    /// The folder that `revocation.directory` names cannot be read.
    case folderUnreadable(path: String)
    /// The setting has a value that is not understood, as one of a newer smime.
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
