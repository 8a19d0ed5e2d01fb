import CMSSyntax
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

extension Setting {
    /// A description of the allowed values.
    var expectation: String {
        switch self {
        case .encryptionUnknown:
            "a cipher, and exceptions for recipients or senders, such as 'aes-256-gcm example.org=aes-256-cbc'"
        case .encryptionFloor: "one of \(ContentCipher.writable.map(\.name).joined(separator: ", "))"
        case .authservID: "a host name, or nothing"
        case .bounceText: "a sentence of at most 500 bytes on one line, or nothing"
        case .decryptedSender: "an address, or nothing"
        case .filterLog: "one of \(LogTarget.allCases.map(\.rawValue).joined(separator: ", "))"
        case .acceptSender, .acceptWeak, .filterTags, .headerProtection, .legacyDisplay, .lookupLDAPStartTLS,
            .lookupSMIMEA, .revocationOnline, .revocationPrivateAddresses:
            "on or off"
        case .recipientDelimiter:
            "up to 8 of the characters !#$%&'*+-/=?^_`{|}~. (as in Postfix's recipient_delimiter), or nothing"
        case .sendmail: "the absolute path of a program, and its arguments"
        case .headerConfidentiality: "one of \(HeaderConfidentiality.allCases.map(\.rawValue).joined(separator: ", "))"
        case .lookupDirectory, .revocationDirectory: "the absolute path of a folder, or nothing"
        case .lookupCommand: "the absolute path of a program, without arguments"
        case .lookupCache, .lookupCacheOfNone: "a time such as 30s, 10m, 1h or 7d, up to 30d"
        case .lookupLDAP: "a URL such as ldaps://ldap.example.org/dc=example,dc=org??sub?(mail=%s), or nothing"
        case .lookupLDAPAuthorities, .lookupLDAPPassword, .lookupSMIMEATrustAnchor:
            "the absolute path of a file, or nothing"
        case .lookupSMIMEAResolver: "an address such as 192.0.2.53 or 127.0.0.1@5353, or nothing"
        case .lookupLDAPName:
            "the name for the bind: a DN or, for Active Directory, a name such as smime@example.org, or nothing"
        case .lookupBudget, .lookupCommandTimeout, .lookupDirectoryTimeout, .lookupLDAPTimeout,
            .lookupSMIMEATimeout, .revocationTimeout:
            "a time such as 2s or 500ms, up to 300s"
        case .lookupOrder: "registry, followed by any of: \(Setting.sourceNames.joined(separator: ", "))"
        case .subjectTags: "tags and their meanings, such as '[encrypt] encrypt=require'"
        }
    }
}
