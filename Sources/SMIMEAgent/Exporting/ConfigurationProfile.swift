import Foundation
package import InternetMessage
import LibCrypto
package import PKIX

/// An Apple configuration profile: identities for a device, and the mail account that uses those identities.
///
/// Apple's documentation of device management: TopLevel, CertificatePKCS12, CertificatePKCS1, Mail, ExchangeActiveSync.
package struct ConfigurationProfile {
    /// An identity with a PKCS#12 file that contains only this identity.
    package struct SealedIdentity {
        let certificate: Certificate
        let pkcs12: [UInt8]

        package init(_ certificate: Certificate, pkcs12: [UInt8]) {
            (self.certificate, self.pkcs12) = (certificate, pkcs12)
        }
    }

    /// The account on the device.
    package struct MailAccount {
        let servers: MailServers
        let login: String
        let name: String?

        /// - Parameters:
        ///   - login: the user name for the servers.
        ///   - name: the display name in From.
        package init(_ servers: MailServers, login: String, name: String?) {
            (self.servers, self.login, self.name) = (servers, login, name)
        }
    }

    private let address: EmailAddress
    private let identities: [SealedIdentity]
    private let current: PublishedCertificates
    private let account: MailAccount?

    /// - Parameters:
    ///   - identities: all identities that the device receives.
    ///   - current: the certificates with which the account signs and to which others encrypt, and the authorities above
    ///     them without the roots.
    ///   - account: the mail account; if nil, the profile does not change the device's accounts.
    package init(
        of address: EmailAddress,
        _ identities: [SealedIdentity],
        current: PublishedCertificates,
        account: MailAccount?
    ) {
        self.address = address
        self.identities = identities
        self.current = current
        self.account = account
    }

    /// The profile as XML, without a signature.
    package var xml: [UInt8] {
        get throws {
            var payloads = try identities.map(pkcs12Payload) + current.authorities.map(authorityPayload)
            if let account { payloads.append(try payload(of: account)) }
            let profile = try payload("Configuration", named: "S/MIME for \(address)", [:])
                .merging(["PayloadContent": .list(payloads.map(PropertyListValue.dictionary))]) { $1 }
            return try PropertyListValue.dictionary(profile).xml
        }
    }

    /// A payload with the keys that every payload has.
    ///
    /// The payload's identifiers depend only on the address, the type and the certificate, so a new profile replaces the
    /// earlier one on a device.
    private func payload(
        _ type: String,
        named name: String,
        about certificate: Certificate? = nil,
        _ keys: [String: PropertyListValue]
    ) throws -> [String: PropertyListValue] {
        let identifier = identifier(type, certificate)
        return keys.merging([
            "PayloadType": .text(type), "PayloadVersion": 1, "PayloadIdentifier": .text(identifier),
            "PayloadUUID": .text(try Self.uuid(of: identifier)), "PayloadDisplayName": .text(name),
        ]) { $1 }
    }

    private func identifier(_ type: String, _ certificate: Certificate?) -> String {
        let domain = address.asciiDomain.split(separator: ".").reversed().joined(separator: ".")
        let parts = [domain, "smime", address.localPart, type, certificate?.fingerprint.hexadecimal]
        return parts.compactMap(\.self).joined(separator: ".")
    }

    private func pkcs12Payload(_ identity: SealedIdentity) throws -> [String: PropertyListValue] {
        try payload(
            Self.pkcs12Type,
            named: identity.certificate.displayName,
            about: identity.certificate,
            [
                "PayloadCertificateFileName": .text("\(identity.certificate.fingerprint.hexadecimal.prefix(8)).p12"),
                "PayloadContent": .data(identity.pkcs12),
            ]
        )
    }

    private func authorityPayload(_ authority: Certificate) throws -> [String: PropertyListValue] {
        try payload(
            "com.apple.security.pkcs1",
            named: authority.displayName,
            about: authority,
            [
                "PayloadCertificateFileName": .text("\(authority.fingerprint.hexadecimal.prefix(8)).cer"),
                "PayloadContent": .data(authority.der),
            ]
        )
    }

    private func payload(of account: MailAccount) throws -> [String: PropertyListValue] {
        var keys = try protectionKeys
        keys["EmailAddress"] = .text(address.text)
        switch account.servers {
        case .imap(let incoming, let outgoing):
            keys["EmailAccountType"] = "EmailTypeIMAP"
            keys["EmailAccountDescription"] = .text(address.text)
            keys["EmailAccountName"] = account.name.map { .text($0.escapedForDisplay) }
            keys["OutgoingPasswordSameAsIncomingPassword"] = true
            for (direction, server) in [("Incoming", incoming), ("Outgoing", outgoing)] {
                keys["\(direction)MailServerAuthentication"] = "EmailAuthPassword"
                keys["\(direction)MailServerHostName"] = .text(server.host.full)
                keys["\(direction)MailServerPortNumber"] = server.port.map { .number(Int($0)) }
                keys["\(direction)MailServerUseSSL"] = true
                keys["\(direction)MailServerUsername"] = .text(account.login)
            }
            return try payload("com.apple.mail.managed", named: address.text, keys)
        case .exchange(let server):
            keys["Host"] = .text(server.host.full + (server.port.map { ":\($0)" } ?? ""))
            keys["SSL"] = true
            keys["UserName"] = .text(account.login)
            return try payload("com.apple.eas.account", named: address.text, keys)
        }
    }

    /// Turns signing on, which the user may change. Lets the user switch encryption on or off for each message.
    private var protectionKeys: [String: PropertyListValue] {
        get throws {
            var keys: [String: PropertyListValue] = [:]
            if let certificate = current.signing {
                keys["SMIMESigningEnabled"] = true
                keys["SMIMESigningUserOverrideable"] = true
                keys["SMIMESigningCertificateUUID"] = .text(try Self.uuid(of: identifier(Self.pkcs12Type, certificate)))
            }
            if let certificate = current.encryption {
                keys["SMIMEEncryptionEnabled"] = true
                keys["SMIMEEncryptByDefault"] = false
                keys["SMIMEEncryptByDefaultUserOverrideable"] = true
                keys["SMIMEEnableEncryptionPerMessageSwitch"] = true
                keys["SMIMEEncryptionCertificateUUID"] = .text(
                    try Self.uuid(of: identifier(Self.pkcs12Type, certificate))
                )
            }
            return keys
        }
    }

    /// The payload type of an identity.
    static let pkcs12Type = "com.apple.security.pkcs12"

    /// A UUID of version 8 (RFC 9562 §5.8) that depends on `name` alone.
    private static func uuid(of name: String) throws -> String {
        var bytes = Array(try DigestAlgorithm.sha256.digest(Array(name.utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.hexadecimal.uppercased()
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}

extension Certificate {
    /// The name that a device shows for the certificate. The authority chose the name, so characters that could reorder or
    /// hide the text around it are escaped.
    fileprivate var displayName: String { (subject.commonName ?? addresses.first ?? "\(subject)").escapedForDisplay }
}

/// A value of a property list.
enum PropertyListValue: Encodable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    case text(String)
    case flag(Bool)
    case number(Int)
    case data([UInt8])
    case list([PropertyListValue])
    case dictionary([String: PropertyListValue])

    init(stringLiteral value: String) { self = .text(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(integerLiteral value: Int) { self = .number(value) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .data(let bytes): try container.encode(Data(bytes))
        case .list(let values): try container.encode(values)
        case .dictionary(let values): try container.encode(values)
        }
    }

    /// The value as a property list in XML.
    var xml: [UInt8] {
        get throws {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .xml
            return Array(try encoder.encode(self))
        }
    }
}
