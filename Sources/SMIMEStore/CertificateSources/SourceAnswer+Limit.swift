import Foundation
package import PKIX

/// Adds certificates to an answer, up to a number that can be judged quickly: a person who can write one entry of a
/// directory could put thousands of certificates into it.
extension SourceAnswer {
    /// The maximum number of certificates for an address or domain, and of CA certificates that may complete their chains.
    static let maximumCertificates = 100

    /// Adds the certificates for `address` that the source has at the place `detail`. CA certificates that do not name the
    /// address become the `authorities` of the other ones.
    ///
    /// If there are too many certificates, those that name the address, are valid now and permit encryption come first, the
    /// newest before older ones, and the rest is left out. If such a certificate or an authority is left out, it is unknown
    /// whether the address has another usable certificate. `outages` says so, and mail to the address waits.
    package mutating func add(
        _ certificates: [Certificate],
        for address: AddressScope,
        from source: KnownRecipient.Source,
        at detail: String
    ) {
        var seen = Set(found.filter { $0.address == address }.map(\.certificate))
        let room = max(0, Self.maximumCertificates - seen.count)
        var (own, authorities): ([Candidate], [Certificate]) = ([], [])
        for certificate in certificates where seen.insert(certificate).inserted {
            let names = certificate.names(address)
            if certificate.isCertificateAuthority, !names {
                authorities.append(certificate)
            } else {
                let isUsable = certificate.isValid(at: .now) && certificate.canEncrypt
                own.append(Candidate(certificate: certificate, isPromising: names && isUsable))
            }
        }
        if own.count > room {
            own.sort { $0.precedes($1) }
            if own[room].isPromising { outages[address] = Self.excess }
            own.removeSubrange(room...)
        }
        var issuers = Self.issuers(of: own.map(\.certificate), among: authorities)
        if issuers.count > Self.maximumCertificates {
            outages[address] = Self.excess
            issuers.removeSubrange(Self.maximumCertificates...)
        }
        found += own.map { candidate in
            FoundCertificate(
                address: address,
                certificate: candidate.certificate,
                source: source,
                detail: detail,
                authorities: issuers
            )
        }
    }

    /// The outage for an address with too many certificates: the right one may be among those that were left out.
    private static let excess = SourceOutage(
        "it has more than \(maximumCertificates) certificates or authorities for the address",
        holdsMail: true
    )

    /// A certificate that may be used for the address.
    private struct Candidate {
        let certificate: Certificate
        /// Whether the certificate names the address, is valid now and permits encryption.
        let isPromising: Bool

        /// Whether this certificate is taken rather than `other`.
        func precedes(_ other: Candidate) -> Bool {
            isPromising == other.isPromising ? certificate.isNewer(than: other.certificate) : isPromising
        }
    }

    /// The certificates of `authorities` with the names of the issuers of `certificates`, of these issuers' issuers, and so on;
    /// the nearest first. If there are more than the maximum number, the result exceeds the maximum by at least one.
    private static func issuers(of certificates: [Certificate], among authorities: [Certificate]) -> [Certificate] {
        guard !authorities.isEmpty else { return [] }
        let named: [[UInt8]?: [Certificate]] = Dictionary(grouping: authorities) { try? $0.subject.matchingKey }
        var found: [Certificate] = []
        var seen: Set<[UInt8]?> = []
        var nearest = certificates
        while !nearest.isEmpty, found.count <= maximumCertificates {
            let names: [[UInt8]?] = nearest.map { try? $0.issuer.matchingKey }
            nearest = names.filter { seen.insert($0).inserted }.flatMap { named[$0] ?? [] }
            found += nearest
        }
        return found
    }
}
