import ByteStreams
import SwiftASN1

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A source of revocation data, which is asked if the available data is insufficient.
package protocol RevocationSource: Sendable {
    /// The revocation data for the certificates at the indices `places` of `chain`, in which each certificate was issued by
    /// the next.
    ///
    /// The caller must verify all data. A service that cannot be reached contributes nothing.
    func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence

    /// The source for one verdict, that is, for one message or its recipients. If a source has one time limit for all requests
    /// of a verdict, it returns a copy of itself with a new limit; other sources return themselves.
    func forOneVerdict() -> any RevocationSource

    /// Whether the source asks any service at all; true by default.
    func isAsking() async -> Bool
}

extension RevocationSource {
    /// Returns the source itself, for sources without a time limit.
    package func forOneVerdict() -> any RevocationSource { self }

    /// Returns true.
    package func isAsking() async -> Bool { true }
}

/// Revocation data from a source.
package struct RevocationEvidence: Hashable, Sendable {
    /// Unverified revocation lists of the issuers.
    package var certificateLists: [CertificateList] = []
    /// Unverified OCSP responses.
    package var responses: [OCSPResponse] = []

    package init() {}

    /// Whether there are neither lists nor responses.
    package var isEmpty: Bool { certificateLists.isEmpty && responses.isEmpty }
}

extension ValidationOptions {
    /// A copy of these options with `evidence` added.
    package func with(_ evidence: RevocationEvidence) -> ValidationOptions {
        var options = self
        options.certificateLists += evidence.certificateLists.filter { !certificateLists.contains($0) }
        options.responses += evidence.responses.filter { !responses.contains($0) }
        return options
    }

    /// A copy of these options, with the data that `source` has about trusted chains of unknown revocation status.
    ///
    /// No service is asked about other chains: an untrusted certificate must not determine where this program connects to.
    package func asking(_ source: (any RevocationSource)?, about verdicts: [ChainVerdict], at date: Date) async
        -> ValidationOptions
    {
        guard let source, revocation != .off else { return self }
        var options = self
        for verdict in verdicts where verdict.isTrusted {
            guard let places = verdict.revocation?.unknownPlaces, !places.isEmpty else { continue }
            options = options.with(await source.evidence(on: verdict.certificates, at: places, date: date))
        }
        return options
    }
}

extension CertificateList {
    /// Whether `issuer` has the name of the list's issuer and signed the list.
    ///
    /// libcrypto: `X509_CRL_verify`
    package func isSigned(by issuer: Certificate) -> Bool {
        self.issuer.matches(issuer.subject) && RevocationLists.verify(self, by: issuer) == true
    }
}

/// Where, and by which issuers, the lists that may revoke a certificate are published.
///
/// RFC 5280 §4.2.1.13
struct DistributionPoints {
    /// The URIs of all distribution points; nil if a distribution point has no name or a name of another kind, so that URIs
    /// cannot identify it.
    private(set) var locations: Set<[UInt8]>? = []
    /// The names in cRLIssuer: issuers of lists other than the certificate's issuer.
    private(set) var issuers: [DistinguishedName] = []

    /// The distribution points of `certificate`; empty if that extension is absent.
    init(of certificate: Certificate) {
        guard Self.mentionsExtension(in: certificate.der.octets), let fields = try? CertificateFields(certificate.der),
            let value = fields.extensionValue([2, 5, 29, 31])
        else { return }
        do { try read(value) } catch { locations = nil }
    }

    /// Whether the bytes of the extension's identifier occur anywhere in `der`. If not, nothing has to be parsed again.
    private static func mentionsExtension(in der: Span<UInt8>) -> Bool {
        var position = 0
        while let found = der.firstOffset(of: 0x55, from: position) {
            if der.has([0x55, 0x1D, 0x1F], at: found) { return true }
            position = found + 1
        }
        return false
    }

    private mutating func read(_ value: [UInt8]) throws {
        for point in try ElementReader(ASN1Node.read(value)).remaining {
            var fields = try ElementReader(point)
            let uris = try fields.optional(.context(0)).flatMap { try Self.uris($0.onlyChild()) }
            if let uris { locations?.formUnion(uris) } else { locations = nil }
            _ = fields.optional(.context(1))
            for name in try fields.optional(.context(2))?.children() ?? [] where name.identifier == .context(4) {
                issuers.append(try DistinguishedName(name.onlyChild()))
            }
        }
    }

    /// Whether a list with this IssuingDistributionPoint may come from one of these distribution points. False only if the
    /// list names other places.
    ///
    /// RFC 5280 §5.2.5, §6.3.3 (b) (2) (i)
    func mayBe(at point: [UInt8]?) -> Bool {
        guard let locations, let point, var fields = try? ElementReader(ASN1Node.read(point)),
            let name = try? fields.optional(.context(0))?.onlyChild(), let own = try? Self.uris(name)
        else { return true }
        return !locations.isDisjoint(with: own)
    }

    /// The URIs in a DistributionPointName; nil if it contains names of other kinds.
    private static func uris(_ name: ASN1Node) throws -> [[UInt8]]? {
        guard name.identifier == .context(0) else { return nil }
        let names = try name.children()
        guard names.allSatisfy({ $0.identifier == .context(6) }) else { return nil }
        return try names.map { try $0.octets() }
    }
}

extension Certificate {
    /// The issuers in the distribution points of the certificate, which sign lists for the certificate's issuer; at most
    /// `RevocationServices.maximumCount`.
    ///
    /// RFC 5280 §4.2.1.13 (cRLIssuer)
    package var revocationListIssuers: [DistinguishedName] {
        Array(DistributionPoints(of: self).issuers.prefix(RevocationServices.maximumCount))
    }
}

/// The URLs in a certificate where its issuer publishes revocations. They are unverified.
///
/// RFC 5280 §4.2.1.13, §4.2.1.15, §4.2.2.1
package struct RevocationServices: Hashable, Sendable {
    /// The URLs of OCSP responders.
    package private(set) var responders: [String] = []
    /// The URLs of revocation lists, delta lists last.
    package private(set) var lists: [String] = []

    /// The maximum number of URLs of each kind that are read from a certificate.
    package static let maximumCount = 4

    fileprivate init() {}

    fileprivate init(_ extensions: [ASN1Node]) {
        var deltas: [String] = []
        for node in extensions {
            guard var fields = try? ElementReader(node),
                let type = try? fields.next(.objectIdentifier).objectIdentifier()
            else { continue }
            _ = fields.optional(.boolean)
            guard let octets = try? fields.next(.octetString).octets(), let value = try? ASN1Node.read(octets) else {
                continue
            }
            switch type {
            case [1, 3, 6, 1, 5, 5, 7, 1, 1]: responders += (try? Self.responders(value)) ?? []
            case [2, 5, 29, 31]: lists += (try? Self.distributionPoints(value)) ?? []
            case [2, 5, 29, 46]: deltas += (try? Self.distributionPoints(value)) ?? []
            default: break
            }
        }
        responders = Array(responders.prefix(Self.maximumCount))
        lists = Array(lists.prefix(Self.maximumCount)) + Array(deltas.prefix(Self.maximumCount))
    }

    /// The URLs of the OCSP access descriptions in an AuthorityInfoAccessSyntax.
    private static func responders(_ node: ASN1Node) throws -> [String] {
        try ElementReader(node).remaining.compactMap { access in
            var fields = try ElementReader(access)
            guard try fields.next(.objectIdentifier).objectIdentifier() == [1, 3, 6, 1, 5, 5, 7, 48, 1] else {
                return nil
            }
            return try url(fields.next())
        }
    }

    /// The URLs of the full names in CRLDistributionPoints. Names relative to the issuer have no URL.
    fileprivate static func distributionPoints(_ node: ASN1Node) throws -> [String] {
        try ElementReader(node).remaining.flatMap { point -> [String] in
            var fields = try ElementReader(point)
            guard let names = try fields.optional(.context(0))?.onlyChild(), names.identifier == .context(0) else {
                return []
            }
            return try names.children().compactMap(url)
        }
    }

    /// The uniformResourceIdentifier of a GeneralName; nil if the name is of another kind or not ASCII.
    private static func url(_ name: ASN1Node) throws -> String? {
        guard name.identifier == .context(6) else { return nil }
        let bytes = try name.octets()
        return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

extension Certificate {
    /// The URLs where the certificate's issuer publishes revocations.
    package var revocationServices: RevocationServices {
        (try? CertificateFields(der)).map { RevocationServices($0.extensions) } ?? RevocationServices()
    }
}

extension CertificateList {
    /// The URLs of delta lists in this list's freshestCRL extension. They are unverified.
    ///
    /// RFC 5280 §5.2.6
    package var deltaLists: [String] {
        guard let value = try? extensions.value(ofExtension: [2, 5, 29, 46]), let node = try? ASN1Node.read(value)
        else {
            return []
        }
        return Array(((try? RevocationServices.distributionPoints(node)) ?? []).prefix(RevocationServices.maximumCount))
    }
}
