import InternetMessage
package import PKIX
package import SMIMEStore

extension ImportBatch {
    /// Adds the certificates of a file; `place` sorts each certificate.
    ///
    /// - Parameter file: the file's name in messages.
    /// - Throws: `AgentError.holdsPrivateKeys`: private keys must be imported explicitly.
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

    /// Adds a certificate that a person gave for `address`: as a certificate of that recipient, or as an intermediate.
    package mutating func add(_ certificate: Certificate, for address: AddressScope, isPinned: Bool) {
        // Self-signed certificates of persons often claim to be those of authorities.
        let isPersons = certificate.isSelfIssued && certificate.names(address)
        if certificate.isCertificateAuthority, !isPersons {
            intermediates.append(certificate)
        } else {
            recipients.append(.init(certificate: certificate, addresses: [address], source: .added, isPinned: isPinned))
        }
    }
}
