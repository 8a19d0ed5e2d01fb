/// A revocation list from a service that a certificate names.
package struct FetchedList: Hashable, Sendable {
    package let list: CertificateList
    /// The certificate whose key signed the list. The signature has been verified.
    package let issuer: Certificate

    package init(list: CertificateList, issuer: Certificate) { (self.list, self.issuer) = (list, issuer) }
}
