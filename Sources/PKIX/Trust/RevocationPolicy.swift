/// How the revocation status of certificates affects a verdict.
@nonexhaustive
public enum RevocationPolicy: String, CaseIterable, Hashable, Sendable {
    /// Revocation is not checked.
    case off
    /// A revoked certificate is an error. A certificate of unknown status passes with the warning `revocation-unknown`.
    case soft
    /// Like `soft`, but a certificate of unknown status is an error (`revocation-unknown`).
    case hard
}
