/// How to treat a new certificate if the address has certificates for the same use, but no trusted one with the same key
/// and issuer. A key that is held or distrusted for the address stays so, whatever the policy.
package enum ChangePolicy: String, CaseIterable, Sendable {
    /// The certificate is not used until a user trusts it.
    case hold
    /// The certificate is used if the address has a trusted certificate for the same key, or if all trusted certificates
    /// of the address were learned from mail, are not pinned, and have the same trust anchor as this certificate. Expired
    /// certificates without an anchor are ignored, but at least one certificate must have the anchor. Otherwise the
    /// certificate is not used until a user trusts it.
    case sameRoot = "same-root"
    /// The certificate is used like any other.
    case use
}
