/// How to treat a new certificate of a known address if no trusted certificate of the address has the same key and issuer.
package enum ChangePolicy: String, CaseIterable, Sendable {
    /// The certificate is not used until a user trusts it.
    case hold
    /// The certificate is used if the address has a trusted certificate for the same key, or if all trusted certificates of
    /// the address were learned from mail and have the same trust anchor as this one. An expired one may have lost its anchor,
    /// if another one has the anchor. Otherwise the certificate is not used until a user trusts it.
    case sameRoot = "same-root"
    /// The certificate is used like any other.
    case use
}
