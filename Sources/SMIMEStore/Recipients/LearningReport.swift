import Foundation
public import InternetMessage
public import PKIX

/// The result of learning from verified messages.
public struct LearningReport: Sendable {
    /// How a certificate relates to the certificates that were known for its address.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// The address has certificates for the same use, but no trusted one with the same key and issuer.
        case changed
        /// The address had no certificate for the same use (signing or encryption), except imported ones without an anchor.
        case learned
        /// The certificate has the key and the issuer of a trusted one.
        case renewed
    }

    /// A certificate that is new for an address.
    public struct Entry: Sendable {
        /// The address of the certificate's owner.
        public let address: EmailAddress
        /// The new certificate.
        public let certificate: Certificate
        /// How the certificate relates to the known certificates.
        public let kind: Kind
        /// Whether the certificate is not used until a user trusts it.
        public let isHeld: Bool
        /// The newest certificate for the same use that was known before, trusted ones preferred; nil if there was none.
        /// Imported certificates without an anchor do not count.
        public let previous: Certificate?
        /// The Message-ID of the mail with the certificate; nil if the mail has none.
        public let messageID: String?
    }

    /// The certificates that were not known for their addresses before.
    public internal(set) var entries: [Entry] = []
    /// The certificates that were already known for their addresses.
    public internal(set) var known: [(address: EmailAddress, certificate: Certificate)] = []
    /// Whether the store was changed. A new date of the last sighting counts as a change.
    public internal(set) var changesStore = false

    package init() {}
}
