public import ArgumentParser
public import CMS
public import Keystore
public import MIME
public import MailFilter

extension EmailAddress: ExpressibleByArgument {
    public init?(argument: String) {
        guard let address = try? EmailAddress(argument) else { return nil }
        self = address
    }
}

extension EmailAddress {
    /// Refuses what must not become an account by hand: a slash is legal in an address, and a trap wherever an account's
    /// name becomes part of a path.
    func checkAccountName() throws {
        guard !localPart.contains("/") else { throw ValidationError("'\(self)': an account's address has no slash") }
    }
}

extension Fingerprint: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension PKCS12.Compatibility: ExpressibleByArgument {}

extension ChangePolicy: ExpressibleByArgument {}

extension CertificateProfile: ExpressibleByArgument {}

extension RevocationPolicy: ExpressibleByArgument {}

extension AddressScope: ExpressibleByArgument {
    public init?(argument: String) {
        guard let scope = try? AddressScope(argument) else { return nil }
        self = scope
    }
}

extension Policy.GatewayDecryption: ExpressibleByArgument {}
extension Policy.Kind: ExpressibleByArgument {}
extension Policy.Level: ExpressibleByArgument {}
extension Policy.Missing: ExpressibleByArgument {}
extension Policy.Override: ExpressibleByArgument {}
extension Policy.Protected: ExpressibleByArgument {}

extension Policy.Pattern: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension Protection: ExpressibleByArgument {}
extension HeaderConfidentiality: ExpressibleByArgument {}
extension Setting: ExpressibleByArgument {}
extension Setting.LogTarget: ExpressibleByArgument {}

extension HostName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension SendmailTransport: ExpressibleByArgument {
    public init?(argument: String) { self.init(parsing: argument) }
}
