import CMSSyntax
import PKIX
import SMIME

/// A report on the signed files and the certificates that signed them.
struct SigningReport: Encodable {
    let files: [SignedFile]
    /// The inputs that failed.
    let failed: [FailedFile]
}

/// One file that was written.
struct SignedFile: Encodable, Sendable {
    /// The path of the output; `-` is standard output.
    let file: String
    let fingerprint: Fingerprint
    /// The addresses in the signer's certificate.
    let addresses: [String]
    let digest: String
    /// `detached` or `opaque`.
    let form: String

    init(_ file: String?, by signer: SignedDataWriter.Signer, as form: SignatureForm) {
        self.file = file ?? "-"
        let certificate = signer.identity.certificate
        fingerprint = certificate.fingerprint
        addresses = certificate.addresses
        digest = signer.digest.rawValue
        self.form = form == .opaque ? "opaque" : "detached"
    }
}
