package import ByteStreams
import CMSSyntax
import InternetMessage
package import PKIX

/// A mail that only contains certificates and revocation lists. It has no signature, so nothing in it is verified.
///
/// RFC 8551 §3.8
package struct CertificatesMessage: Sendable {
    /// The certificates, in the order of the object.
    package let certificates: [Certificate]
    /// The revocation lists, in the order of the object.
    package let certificateLists: [CertificateList]

    /// Reads the message in `source`; nil if its header does not announce a message of this kind.
    ///
    /// - Throws: `CMSError`, `MessageError.malformed` if the content contradicts the header, and errors of reading.
    package init?(_ source: any ByteSource) throws {
        guard let message = try? MIMEReader.message(in: source), case .cms("certs-only", _) = message.protection else {
            return nil
        }
        let data = try SignedData(reading: message.decodedBody(of: source))
        guard data.signers.isEmpty else {
            throw MessageError.malformed("smime-type says certs-only, but there is a signature")
        }
        certificates = data.certificates
        certificateLists = data.revocationEvidence.certificateLists
        guard !certificates.isEmpty || !certificateLists.isEmpty else {
            throw MessageError.malformed("smime-type says certs-only, but there are no certificates")
        }
    }
}
