import PKIX

extension ProblemCode {
    /// `advice`, with the command to run if there is one.
    var commandAdvice: String {
        switch self {
        case .certificateExpired: "ask the owner for the new certificate; older mail can be judged with --time"
        case .chainNoAnchor:
            """
            if you know the root: smime trust add FILE-OR-MAIL. If its issuer is missing: smime import FILE. Or compare \
            fingerprints: smime recipient trust ADDR
            """
        case .crlExpired, .signerCertificateMissing: "\(advice): smime import FILE"
        case .headerDiffers, .headerUnprotected: "\(advice): smime verify --verbose FILE"
        case .revocationUnknown:
            "ask the authority's service: smime verify --online FILE. Or \(advice): smime import FILE"
        case .crlUnreadable: "\(advice): smime store check --repair"
        case .encrypted: "smime decrypt FILE shows the signatures"
        case .notLearned: "smime verify FILE says what is wrong with the signature"
        default: advice
        }
    }
}
