/// How the revocation status of certificates affects a verdict.
@nonexhaustive
public enum RevocationPolicy: String, CaseIterable, Hashable, Sendable {
    /// Revocation is not checked.
    case off
    /// A revoked certificate is an error. A certificate of unknown status is accepted with the warning `revocation-unknown`;
    /// this is an error only if the check takes too long or there are too many lists.
    case soft
    /// A revoked certificate is an error, and so is a certificate of unknown status (`revocation-unknown`).
    case hard
}
