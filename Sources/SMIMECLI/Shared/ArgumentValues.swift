public import ArgumentParser
public import CMS
public import Keystore
public import MIME

extension EmailAddress: ExpressibleByArgument {
    public init?(argument: String) {
        guard let address = try? EmailAddress(argument) else { return nil }
        self = address
    }
}

extension Fingerprint: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension PKCS12.Compatibility: ExpressibleByArgument {}

extension ChangePolicy: ExpressibleByArgument {}

extension AccountAlias: ExpressibleByArgument {
    public init?(argument: String) {
        guard let alias = try? AccountAlias(argument) else { return nil }
        self = alias
    }
}

extension Policy.Level: ExpressibleByArgument {}
extension Policy.Missing: ExpressibleByArgument {}
extension Policy.Override: ExpressibleByArgument {}

extension Policy.Pattern: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
