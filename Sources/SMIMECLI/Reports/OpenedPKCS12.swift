import PKIX

/// The contents of a PKCS#12 file, opened with its passphrase.
struct OpenedPKCS12: Sendable {
    /// The certificates whose keys are in it.
    let own: [Certificate]
    let others: [Certificate]
}
