public import Foundation
public import InternetMessage
public import PKIX
package import SMIME

/// A person or role that mail is sent as.
public struct Account: Sendable {
    /// The main address, by which the account is named.
    public let address: EmailAddress
    /// Further addresses, and `@domain` for a whole domain.
    public let aliases: [String]
    /// The display name of the account.
    public let name: String?
    /// What the account's encrypted mail hides of its header; nil for the store's setting.
    package let headerConfidentiality: HeaderConfidentiality?
    /// Everything the account can or could sign and decrypt with, newest first.
    public let identities: [AccountIdentity]
}

/// An account without its certificates.
package struct AccountSummary: Sendable {
    /// The main address, by which the account is named.
    package let address: EmailAddress
    /// What the account's encrypted mail hides of its header; nil for the store's setting.
    package let headerConfidentiality: HeaderConfidentiality?
}

/// A certificate of ours, whose private key the store holds, as one account uses it.
public struct AccountIdentity: Sendable {
    /// The account it belongs to.
    public let account: EmailAddress
    /// The certificate, whose private key is in the store.
    public let certificate: Certificate
    /// Whether it was given to the account by hand, so that the certificate need not name the account's address.
    public let isAssigned: Bool
    /// Whether it goes before newer ones.
    public let isPinned: Bool
    /// When it came into the store.
    public let added: Date

    package init(
        account: EmailAddress,
        certificate: Certificate,
        isAssigned: Bool = false,
        isPinned: Bool = false,
        added: Date
    ) {
        self.account = account
        self.certificate = certificate
        self.isAssigned = isAssigned
        self.isPinned = isPinned
        self.added = added
    }
}
