public import Foundation
public import InternetMessage
public import PKIX
package import SMIME

/// A person or role from whose addresses mail is sent.
public struct Account: Sendable {
    /// The main address, which identifies the account.
    public let address: EmailAddress
    /// Further addresses of the account; `@domain` stands for all addresses of a domain.
    public let aliases: [String]
    /// The display name of the account; nil if none is set.
    public let name: String?
    /// Which header fields the account's encrypted mail hides; nil if the store's setting applies.
    package let headerConfidentiality: HeaderConfidentiality?
    /// All identities of the account, newest first, including those that can no longer be used.
    public let identities: [AccountIdentity]
}

/// An account without its identities.
package struct AccountSummary: Sendable {
    /// The main address, which identifies the account.
    package let address: EmailAddress
    /// Which header fields the account's encrypted mail hides; nil if the store's setting applies.
    package let headerConfidentiality: HeaderConfidentiality?
}

/// A certificate whose private key is in the store, as one account uses the certificate.
public struct AccountIdentity: Sendable {
    /// The main address of the account.
    public let account: EmailAddress
    /// The certificate. Its private key is in the store.
    public let certificate: Certificate
    /// Whether a user assigned the certificate to the account. Then the certificate need not name the account's address.
    public let isAssigned: Bool
    /// Whether the account prefers this identity to newer ones.
    public let isPinned: Bool
    /// When the identity was added to the store.
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
