import SMIMEStore

/// What the store knows about a signer whose certificate is not trusted. The words of the verdict depend on it.
struct SignerContext {
    /// A clause that says how the certificate differs from those known for the signer's address; nil if there is no
    /// difference.
    var difference: String?
    /// Whether the signer's address belongs to an account of the store.
    var isAccount = false
    /// Whether the store contains the private key of the certificate.
    var isOwn = false
    /// The end of the certificate's chain in the store; nil unless the store has the certificate's key.
    var chainEnd: ChainEnd?
}
