/// The data of an SMIMEA record, as far as it carries a certificate.
///
/// RFC 8162 §2, RFC 6698 §2.1
package struct SMIMEAData: Hashable, Sendable {
    /// What the certificate is used for.
    package enum Usage: UInt8, Sendable {
        /// PKIX-TA: an authority that the chain must have.
        case authority = 0
        /// PKIX-EE: the person's own.
        case person = 1
        /// DANE-TA: an authority, which the zone vouches for.
        case vouchedAuthority = 2
        /// DANE-EE: the person's own, which the zone vouches for.
        case vouchedPerson = 3

        /// Whether the certificate is an authority's.
        package var isAuthority: Bool { self == .authority || self == .vouchedAuthority }
    }

    /// Why a record is of no use.
    package enum Defect: Error, Hashable, Sendable {
        /// It has only the digest of a certificate or key.
        case digest
        /// It has only a key.
        case key
        /// It is shorter than its fixed fields and a certificate.
        case short
        /// One of its fields has a value that is not known.
        case unknown
    }

    package let usage: Usage
    /// The certificate (DER), not parsed.
    package let certificate: [UInt8]

    /// Reads the data of a record.
    package init(_ data: [UInt8]) throws(Defect) {
        guard data.count > 3 else { throw .short }
        guard let usage = Usage(rawValue: data[0]), data[1] <= 1, data[2] <= 2 else { throw .unknown }
        guard data[2] == 0 else { throw .digest }
        guard data[1] == 0 else { throw .key }
        self.usage = usage
        certificate = Array(data[3...])
    }
}

extension SMIMEAData.Defect: CustomStringConvertible {
    /// Completes "a record was left out: ".
    package var description: String {
        switch self {
        case .digest: "it has the digest of a certificate, and not the certificate"
        case .key: "it has a key, and not the certificate"
        case .short: "it is too short"
        case .unknown: "its usage, selector or matching type is not known"
        }
    }
}
