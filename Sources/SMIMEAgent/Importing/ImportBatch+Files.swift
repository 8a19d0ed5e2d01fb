import ByteStreams
import InternetMessage
package import PKIX
import SMIME
package import SMIMEStore

extension ImportBatch {
    /// Adds the certificates and revocation lists of a file; `place` adds each certificate to the right items of the
    /// batch.
    ///
    /// - Parameter file: the file's name in messages.
    /// - Throws: `AgentError.holdsPrivateKeys`, because private keys must be imported explicitly; the errors of
    ///   `place`.
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

    /// Adds the certificates of one file that a person gave for `address`: as certificates of that recipient, or as
    /// intermediates.
    ///
    /// A single certificate of a person need not name the address. If there are several, another person may have put one
    /// among them, so only those that name the address are added.
    ///
    /// - Parameters:
    ///   - authorities: further certificates, which are only added as intermediates.
    ///   - named: the certificates to add, whatever addresses they name, with the authorities above them; if empty, the
    ///     rules above decide, and all authorities are added.
    ///   - isChosen: whether the user chose a file of certificates. If false, the certificates are from a mail: those that
    ///     are not in `named` are added only if they name the address, and never for a whole domain.
    /// - Returns: the certificates that these rules leave out.
    package mutating func add(
        _ certificates: [Certificate],
        authorities: [Certificate] = [],
        for address: AddressScope,
        named: Set<Fingerprint> = [],
        isChosen: Bool = true,
        isPinned: Bool
    ) -> [Certificate] {
        var (persons, authorities) = ([Certificate](), authorities)
        for certificate in certificates {
            // Self-signed certificates of persons often claim to be those of authorities.
            let isPersons = certificate.isSelfIssued && certificate.names(address)
            if certificate.isCertificateAuthority, !isPersons {
                authorities.append(certificate)
            } else {
                persons.append(certificate)
            }
        }
        let isOnlyOne = isChosen && Set(persons.map(\.fingerprint)).count == 1
        // Every certificate of a person of the domain names the domain.
        let isNamingEnough = isChosen || !address.isDomain
        var (used, leftOut) = ([Certificate](), [Certificate]())
        for certificate in persons {
            if named.isEmpty
                ? isOnlyOne || isNamingEnough && certificate.names(address) : named.contains(certificate.fingerprint)
            {
                used.append(certificate)
            } else if named.isEmpty {
                leftOut.append(certificate)
            }
        }
        recipients += used.map { .init(certificate: $0, addresses: [address], source: .added, isPinned: isPinned) }
        intermediates += named.isEmpty ? authorities : used.flatMap(IssuerSearch(among: authorities).allIssuers)
        return leftOut
    }
}
