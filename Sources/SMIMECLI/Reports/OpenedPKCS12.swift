import PKIX

/// The contents of a PKCS#12 file, opened with its passphrase.
struct OpenedPKCS12: Sendable {
    /// The certificates whose private keys are in the file.
    let own: [Certificate]
    let others: [Certificate]
}
