import Foundation
import PKIX

/// The columns that describe a certificate in the database, so that lists can be shown without parsing certificates.
///
/// In a file the columns are not verified: only the owner of the store can write them, and the owner could change the
/// certificates as well. In a database on a server gateways can also write them, so no decision depends on them
/// (`SQLConnection.storesVerdicts`).
/// `columns` and `arguments` are in the same order.
struct CertificateDescription {
    static let columns = [
        "usage", "public_key", "subject_name", "issuer_name", "addresses", "issuer_key", "issuer_hash", "name_digest",
    ]

    /// Separates addresses in a column. No address contains a control character.
    static let separator = "\n"

    let arguments: SQLArguments

    init(of certificate: Certificate) throws {
        arguments = [
            CertificateRecord.Usage(of: certificate).rawValue, certificate.publicKeyDigest.bytes,
            certificate.subject.description, certificate.issuer.description,
            certificate.addresses.joined(separator: Self.separator), try certificate.issuer.matchingKey,
            certificate.issuer.systemHash.map { Int($0) }, try certificate.nameDigest.bytes,
        ]
    }
}
