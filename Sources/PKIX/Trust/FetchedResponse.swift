/// An OCSP response from a service that a certificate names.
package struct FetchedResponse: Hashable, Sendable {
    /// The certificate that the response is about.
    package let certificate: OCSPResponse.Subject
    /// The response. Its signature has been verified.
    package let response: OCSPResponse
    /// The period in which the response is valid.
    package let lifetime: OCSPResponse.Lifetime

    package init(certificate: OCSPResponse.Subject, response: OCSPResponse, lifetime: OCSPResponse.Lifetime) {
        self.certificate = certificate
        self.response = response
        self.lifetime = lifetime
    }
}
