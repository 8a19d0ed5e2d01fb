/// What is done with a new certificate that does not continue what was known of an address.
public enum ChangePolicy: String, CaseIterable, Sendable {
    /// It is not used until someone trusts it by hand.
    case hold
    /// It is used as any other.
    case use
}
