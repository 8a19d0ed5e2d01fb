/// How much it counts whether a certificate was revoked.
@nonexhaustive
public enum RevocationPolicy: String, CaseIterable, Hashable, Sendable {
    /// Revocation is not checked.
    case off
    /// A revoked certificate fails. A certificate of unknown status passes with the warning `revocation-unknown`.
    case soft
    /// A certificate of unknown status fails: `revocation-unknown` is an error.
    case hard
}
