/// How to treat a new certificate that does not continue the known ones of an address.
package enum ChangePolicy: String, CaseIterable, Sendable {
    /// It is not used until a person trusts it.
    case hold
    /// It is used where it is below the trust anchor of a certificate that was learned before it, or is about the same key.
    /// One below another anchor is held back, and so is one in the place of a certificate that a person imported or pinned.
    case sameRoot = "same-root"
    /// It is used as any other.
    case use
}
