package import LibCrypto
import SwiftASN1
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A certificate revocation list as received. Its signature is checked when the list is used.
///
/// RFC 5280 §5
public struct CertificateList: Hashable, Sendable {
    /// The encoding as it was received.
    public let der: [UInt8]
    /// The SHA-256 of `der`.
    public let fingerprint: Fingerprint
    /// The authority that signed the list.
    public let issuer: DistinguishedName
    /// The time of issue.
    public let thisUpdate: Date
    /// The time by which the issuer promised the next list; nil if the list contains no such time.
    public let nextUpdate: Date?

    /// The number of names of the distribution point that the list belongs to.
    let pointNames: Int
    private let shared = CertificateListObject()

    /// The maximum number of names of the distribution point.
    package static let maximumNames = 1000
    /// The maximum size of a list in bytes.
    package static let maximumCount = 64 << 20

    /// Parses the fields before the entries of `der`, which must be exactly one list. libcrypto parses the entries later.
    package init(der: [UInt8]) throws(CMSError) {
        guard der.count <= Self.maximumCount else { throw .limitExceeded("size of a certificate revocation list") }
        (issuer, thisUpdate, nextUpdate, pointNames) = try parsing(.certificateList) {
            let outer = try ElementExtent.elements(of: der, limit: 4)
            guard outer.count == 3, outer.map(\.identifier) == [0x30, 0x30, 0x03],
                outer[2].range.upperBound == der.count
            else { throw ElementReader.Mismatch(description: "no CertificateList") }
            var fields = try ElementExtent.elements(of: der, at: outer[0].range.lowerBound, limit: 7)[...]
            if fields.first?.identifier == 0x02 { fields.removeFirst() }
            guard fields.popFirst()?.identifier == 0x30, let issuer = fields.popFirst(), let update = fields.popFirst()
            else {
                throw ElementReader.Mismatch(description: "no TBSCertList")
            }
            // nextUpdate is a UTCTime or GeneralizedTime; any other element here is the entries or the extensions.
            let next = fields.first.flatMap { [0x17, 0x18].contains($0.identifier) ? $0.range : nil }
            let names = try fields.last.flatMap { $0.identifier == 0xA0 ? $0.range.lowerBound : nil }
                .map { try DistributionPointNames.count(inListExtensions: der, at: $0) }
            guard names ?? 0 <= Self.maximumNames else {
                throw CMSError.limitExceeded("names of the distribution point of a revocation list")
            }
            return (
                try DistinguishedName(ASN1Node.read(der[issuer.range])),
                try ASN1Node.read(der[update.range]).time(),
                try next.map { try ASN1Node.read(der[$0]).time() }, names ?? 0
            )
        }
        self.der = der
        fingerprint = try Fingerprint(of: der)
    }

    public static func == (a: CertificateList, b: CertificateList) -> Bool { a.der == b.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    /// The list as an object of libcrypto. Its users share the object, which is freed after its last use.
    package func object() throws(OpenSSLError) -> Handle<X509_CRL> { try shared.object(of: der) }

    /// Whether the list revokes `certificate` or puts it on hold; false if the entry removes a hold, or if libcrypto cannot
    /// read the list or the certificate.
    func revokes(_ certificate: Certificate) -> Bool {
        guard let list = try? object(), let certificate = try? certificate.x509() else { return false }
        return list.revokes(certificate)
    }

    /// Whether the entry of `certificate` removes a hold (removeFromCRL). Only delta lists may have such entries.
    ///
    /// RFC 5280 §5.3.1
    func removesHold(of certificate: Certificate) -> Bool {
        guard let list = try? object(), let certificate = try? certificate.x509() else { return false }
        return list.removesHold(of: certificate)
    }

    /// The revocation date of `certificate`; nil if the list does not revoke it, or if libcrypto cannot read the list or the
    /// certificate.
    func revocationDate(of certificate: Certificate) -> Date? {
        guard let list = try? object(), let certificate = try? certificate.x509() else { return nil }
        return list.revocationDate(of: certificate)
    }
}

/// A list as an object of libcrypto. All copies of a `CertificateList` share the object; it is freed after its last use.
final class CertificateListObject: Sendable {
    private enum State {
        case unread
        case read(Weak)
        /// libcrypto cannot parse the list.
        case unreadable(OpenSSLError)
    }

    private struct Weak {
        weak var object: Handle<X509_CRL>?
    }

    private let state = Mutex(State.unread)

    func object(of der: [UInt8]) throws(OpenSSLError) -> Handle<X509_CRL> {
        try state.withLock { state throws(OpenSSLError) in
            switch state {
            case .read(let weak): if let object = weak.object { return object }
            case .unreadable(let error):
                OpenSSLError.noteOccurrence()
                throw error
            case .unread: break
            }
            do throws(OpenSSLError) {
                let object = try Handle<X509_CRL>(certificateList: der)
                state = .read(Weak(object: object))
                return object
            } catch {
                state = .unreadable(error)
                throw error
            }
        }
    }
}

extension CertificateList {
    /// Parses the whole list with libcrypto, including its entries.
    ///
    /// - Throws: `CMSError.malformed` if libcrypto cannot parse the list, which then has no effect on any certificate.
    package func checkEntries() throws(CMSError) {
        do throws(OpenSSLError) { _ = try object() } catch {
            throw .malformed(.certificateList, "\(error)")
        }
    }
}
