import SMIME

/// One of the five axes of a signature, as a tick.
struct VerdictAxis {
    /// What is known of an axis.
    enum State: String {
        case ok, failed, unknown
    }

    /// The question in a word or two, as `unchanged`.
    let name: String
    let state: State

    /// The axes of `signer`, in the order in which they are shown.
    ///
    /// That the certificate names the sender proves nothing if the content was changed or no authority vouches for the
    /// certificate.
    static func all(of signer: VerificationReport.Signer) -> [VerdictAxis] {
        let isProven = signer.integrity.holds && signer.chain.holds
        let sender = state(signer.identity)
        return [
            VerdictAxis(name: "unchanged", state: state(signer.integrity)),
            VerdictAxis(name: "sender", state: sender == .ok && !isProven ? .unknown : sender),
            VerdictAxis(name: "trusted", state: state(signer.chain)),
            VerdictAxis(name: "revocation", state: signer.isRevocationUnknown ? .unknown : state(signer.revocation)),
            VerdictAxis(name: "in time", state: state(signer.time)),
        ]
    }

    private static func state(_ axis: VerificationReport.Axis) -> State {
        axis.ok.map { $0 ? .ok : .failed } ?? .unknown
    }

    /// The tick and the name.
    func text(inUnicode: Bool) -> String { "\(inUnicode ? tick : word) \(name)" }

    private var tick: String {
        switch state {
        case .ok: "✓"
        case .failed: "✗"
        case .unknown: "?"
        }
    }

    private var word: String {
        switch state {
        case .ok: "[ok]"
        case .failed: "[NO]"
        case .unknown: "[?]"
        }
    }
}
