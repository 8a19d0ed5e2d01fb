/// How to treat a new certificate of a known address if no trusted certificate of the address has the same key and issuer.
package enum ChangePolicy: String, CaseIterable, Sendable {
    /// The certificate is not used until a user trusts it.
    case hold
    /// The certificate is used if the address has a trusted certificate for the same key, or if it has the same trust
    /// anchor as a certificate learned before. Otherwise it is not used until a user trusts it. The anchor does not suffice
    /// if a user imported or pinned a trusted certificate of the address.
    case sameRoot = "same-root"
    /// The certificate is used like any other.
    case use
}
