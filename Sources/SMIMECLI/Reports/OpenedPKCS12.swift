import PKIX

/// What a PKCS#12 file holds behind its passphrase.
struct OpenedPKCS12: Sendable {
    /// The certificates whose keys are in it.
    let own: [Certificate]
    let others: [Certificate]
}
