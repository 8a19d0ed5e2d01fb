/// How much it counts whether a certificate was revoked.
public enum RevocationPolicy: String, CaseIterable, Hashable, Sendable {
    /// Nobody looks.
    case off
    /// A certificate that was revoked fails; where nothing at hand says so or otherwise, that is noted.
    case soft
    /// Only what is known not to have been revoked passes.
    case hard
}
