import CMSSyntax
import InternetMessage
import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The problems that make a certificate unusable, independent of its chain.
enum CertificateFitness {
    /// The problems that prevent using the certificate; empty if there are none.
    static func problems(of certificate: Certificate, for purpose: Certificate.KeyPurpose, at time: Date) -> [Problem] {
        var problems: [Problem] = []
        switch purpose {
        case .signing where !certificate.canSign:
            problems.append(Problem(.keyUsage, "the certificate does not permit signing mail"))
        case .encryption where certificate.isCertificateAuthority:
            problems.append(Problem(.endEntityIsCA, "the certificate is a CA certificate"))
        case .encryption where !certificate.canEncrypt:
            problems.append(Problem(.keyUsage, "the certificate does not permit encryption"))
        default: break
        }
        return problems + self.problems(of: certificate, at: time)
    }

    /// The problems that prevent every use of the certificate.
    private static func problems(of certificate: Certificate, at time: Date) -> [Problem] {
        var problems: [Problem] = []
        // A time that is not a number is in no period.
        if !(time >= certificate.notBefore) {
            problems.append(Problem(.certificateNotYetValid, "the certificate is not valid yet"))
        }
        if !(time <= certificate.notAfter) {
            problems.append(Problem(.certificateExpired, "the certificate has expired"))
        }
        if certificate.publicKeyAlgorithm.isWeak {
            problems.append(Problem(.weakKey, "its key is too short: \(certificate.publicKeyAlgorithm)"))
        }
        return problems
    }

    /// Checks the signer of an object that is not mail. The extended key usage is not checked, because the caller's verifiers
    /// determine the usage that they require.
    ///
    /// - Throws: `MessageError.unusableSigner`
    static func checkSigner(_ certificate: Certificate, at time: Date) throws(MessageError) {
        let problem =
            certificate.allowsSigning
            ? problems(of: certificate, at: time).first
            : Problem(.keyUsage, "the certificate does not permit signatures")
        if let problem { throw .unusableSigner("\(certificate.subject): \(problem.text)") }
    }

    /// - Throws: `MessageError.unusableSigner`
    static func checkSigner(_ identity: Identity, of header: HeaderBlock, at time: Date) throws(MessageError) {
        let certificate = identity.certificate
        let author = AuthorReading(header)
        let reason: String? =
            if let problem = problems(of: certificate, for: .signing, at: time).first {
                problem.text
            } else if let problem = author.firstProblem {
                "\(problem), so no signature would be valid"
            } else if let address = author.soleAddress, !certificate.emailAddresses.contains(address) {
                "the certificate does not name \(address), the address in From"
            } else {
                nil
            }
        if let reason { throw .unusableSigner("\(certificate.subject): \(reason)") }
    }

    /// - Throws: `MessageError.unusableRecipient`
    static func checkRecipient(_ certificate: Certificate, at time: Date) throws(MessageError) {
        guard let problem = problems(of: certificate, for: .encryption, at: time).first else { return }
        throw .unusableRecipient("\(certificate.subject): \(problem.text)")
    }
}
