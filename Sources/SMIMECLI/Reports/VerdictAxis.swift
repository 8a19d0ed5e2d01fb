import SMIME

/// One of the five axes of a signature, shown as a tick.
struct VerdictAxis {
    /// The state of an axis.
    enum State: String {
        case ok, failed, unknown
    }

    /// The name of the axis in one or two words, such as `unchanged`.
    let name: String
    let state: State

    /// The axes of `signer`, in the order in which they are shown.
    ///
    /// If the content was changed, or no authority vouches for the certificate, it proves nothing that the certificate names
    /// the sender. If the content was changed, it proves nothing that the certificate is trusted: the attacker chose the
    /// certificate.
    static func all(of signer: VerificationReport.Signer) -> [VerdictAxis] {
        let isProven = signer.integrity.holds && signer.chain.holds
        let sender = signer.isOtherThanSender ? State.failed : state(signer.identity)
        let trusted = state(signer.chain)
        return [
            VerdictAxis(name: "unchanged", state: integrity(of: signer)),
            VerdictAxis(name: "sender", state: sender == .ok && !isProven ? .unknown : sender),
            VerdictAxis(
                name: "trusted",
                state: trusted == .ok && !signer.integrity.holds ? .unknown : trusted
            ),
            VerdictAxis(name: "revocation", state: revocation(of: signer)),
            VerdictAxis(name: "in time", state: state(signer.time)),
        ]
    }

    /// The state of the integrity axis. Without the signer's certificate, it is unknown whether the content was changed.
    private static func integrity(of signer: VerificationReport.Signer) -> State {
        signer.certificate == nil && !signer.isContentChanged ? .unknown : state(signer.integrity)
    }

    /// The state of the revocation axis. An unknown status is not shown as failed, even if the caller requires a known
    /// status.
    private static func revocation(of signer: VerificationReport.Signer) -> State {
        signer.isRevocationUnknown ? .unknown : state(signer.revocation)
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
