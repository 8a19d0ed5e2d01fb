import InternetMessage
package import PKIX
package import SMIMEStore

extension ImportBatch {
    /// Takes in what a file of certificates holds: `place` says what becomes of each certificate.
    ///
    /// - Parameter file: what it is called.
    /// - Throws: `AgentError.holdsPrivateKeys`: those are imported, and not added by the way.
    package mutating func add(
        _ items: [KeyMaterial],
        of file: String,
        _ place: (Certificate, inout ImportBatch) throws -> Void
    ) throws {
        for item in items {
            switch item {
            case .certificate(let certificate): try place(certificate, &self)
            case .certificateList(let list): crls.append(list)
            case .pkcs12, .privateKey: throw AgentError.holdsPrivateKeys(file: file)
            }
        }
    }

    /// Takes in a certificate that a person adds for `address`: as that recipient's, or as an intermediate.
    package mutating func add(_ certificate: Certificate, for address: AddressScope, isPinned: Bool) {
        // Self-signed certificates often say that they are an authority's, and are a person's all the same.
        let isPersons = certificate.isSelfIssued && certificate.names(address)
        if certificate.isCertificateAuthority, !isPersons {
            intermediates.append(certificate)
        } else {
            recipients.append(.init(certificate: certificate, addresses: [address], source: .added, isPinned: isPinned))
        }
    }
}
