package import LibCrypto
import SwiftASN1
import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An unverified response of an OCSP responder. The signature and the responder's authority are checked when the response is
/// used.
///
/// RFC 6960 §4.2
package struct OCSPResponse: Sendable {
    /// The encoding as it was received.
    package let der: [UInt8]
    /// The identifiers of the certificates that the response is about, parsed once for all copies of the value.
    private let subjects = OCSPSubjects()

    /// The maximum size of a response, in bytes.
    package static let maximumCount = 1 << 20

    /// Accepts any bytes; they are parsed when the response is used.
    package init(der: [UInt8]) { self.der = der }

    /// The OCSP response in an OtherRevocationInfoFormat of a CMS object; nil if `element` is of another type, malformed, or
    /// larger than `maximumCount`.
    ///
    /// RFC 5652 §10.2.1, RFC 5940 §2.1
    package init?(otherRevocationInfo element: [UInt8]) {
        guard element.first == 0xA1, element.count <= Self.maximumCount, let node = try? ASN1Node.read(element),
            let fields = (try? node.children(expecting: .context(1))).map(Array.init), fields.count == 2,
            (try? fields[0].objectIdentifier()) == [1, 3, 6, 1, 5, 5, 7, 16, 2]
        else { return nil }
        der = Array(fields[1].encodedBytes)
    }

    /// The status of one certificate.
    struct Answer {
        let status: RevocationCheck.Status
        /// Whether the validation time is between thisUpdate and nextUpdate, with a tolerance of five minutes. If there is no
        /// nextUpdate, the period ends seven days after thisUpdate.
        let isCurrent: Bool
        /// The period in which the answer is valid.
        let lifetime: Lifetime
        /// The certificate of the responder, if its revocation must be checked (RFC 6960 §4.2.2.2.1).
        fileprivate(set) var responder: Certificate?
    }

    /// The certificate that a response is about: its issuer, with name and key, and its serial number. Anyone who may issue
    /// certificates for authorities can give them the name of another authority, so the name does not suffice.
    ///
    /// RFC 6960 §4.1.1
    package struct Subject: Hashable, Sendable {
        /// The `nameDigest` of the certificate, followed by the SHA-256 of the issuer's public key.
        package let bytes: [UInt8]

        /// - Throws: `.openSSL` if libcrypto cannot compute a digest.
        package init(_ certificate: Certificate, issuedBy issuer: Certificate) throws(CMSError) {
            bytes = try certificate.nameDigest.bytes + issuer.publicKeyDigest.bytes
        }

        /// The subject of a stored response.
        package init(bytes: [UInt8]) { self.bytes = bytes }

        /// All subjects with the `nameDigest` of `certificate` are between the two values: at least `first`, and before `end`.
        package static func range(of certificate: Certificate) throws(CMSError) -> (first: [UInt8], end: [UInt8]) {
            let name = try certificate.nameDigest.bytes
            return (name, name + [UInt8](repeating: 0xFF, count: 33))
        }
    }

    /// The validity period of an answer.
    package struct Lifetime: Hashable, Sendable {
        /// thisUpdate: the time at which the status was known to be correct.
        package let since: Date
        /// nextUpdate; if the answer has none, the end of the maximum period of use. `endless` for a permanent revocation.
        package let until: Date

        /// The end of answers that never cease to apply: the last second of the year 9999.
        package static let endless = Date(timeIntervalSince1970: 253_402_300_799)

        package init(since: Date, until: Date) {
            self.since = since
            self.until = until
        }
    }

    /// The status of `certificate` from a responder authorized by `issuer`; nil if the response is unusable or does not
    /// name `certificate`.
    ///
    /// The responder is the issuer itself or has a certificate of the issuer for OCSP signing (RFC 6960 §4.2.2.2). The answer
    /// must be current at `date`, unless it is a revocation (no hold) with a revocation date that is not after `date`.
    func answer(about certificate: Certificate, issuedBy issuer: Certificate, at date: Date) -> Answer? {
        guard isAbout(certificate, issuedBy: issuer), let object = object(), let authority = try? issuer.x509(),
            var answer = Self.answer(in: object, OCSPCertificateNames.all(of: certificate, issuedBy: issuer), date)
        else { return nil }
        let time = answer.isCurrent ? date : answer.lifetime.since
        guard (try? object.isSigned(by: authority, at: time)) == true else { return nil }
        do {
            guard let delegate = try object.delegate(of: authority) else { return answer }
            let responder = try Certificate(der: delegate.certificate)
            // RFC 5280 §4.2.1.12
            let maySign = responder.keyUsage.map { !$0.isDisjoint(with: [.digitalSignature, .nonRepudiation]) }
            guard maySign ?? true else { return nil }
            if !delegate.isExemptFromRevocation { answer.responder = responder }
            return answer
        } catch { return nil }
    }

    /// Whether the response contains an answer about `certificate`; the signature is not verified.
    func isAbout(_ certificate: Certificate, issuedBy issuer: Certificate) -> Bool {
        let subjects = subjects.read {
            guard let object = object() else { return [] }
            return Set(object.answers(atMost: Self.maximumAnswers).map(\.id))
        }
        guard !subjects.isEmpty else { return false }
        return !subjects.isDisjoint(with: OCSPCertificateNames.all(of: certificate, issuedBy: issuer))
    }

    /// The cost of reading the response, in units of `WorkBudget`.
    var cost: Int { WorkBudget.reading + der.count >> 13 }

    private func object() -> OCSPObject? { der.count <= Self.maximumCount ? OCSPObject(der: der) : nil }

    /// The maximum number of answers that are read from one response.
    private static let maximumAnswers = 100
    /// The tolerated difference between clocks, and the maximum period of use of an answer without nextUpdate, in seconds.
    private static let (clockTolerance, longestAnswer): (TimeInterval, TimeInterval) = (300, 7 * 86_400)

    private static func answer(
        in object: borrowing OCSPObject,
        _ names: [OCSPObject.CertificateID],
        _ date: Date
    ) -> Answer? {
        var good: Answer?
        for answer in object.answers(atMost: maximumAnswers) where names.contains(answer.id) {
            guard let lifetime = lifetime(answer) else { continue }
            let isCurrent = isCurrent(answer, date)
            switch answer.status {
            case .good where isCurrent: good = good ?? Answer(status: .good, isCurrent: true, lifetime: lifetime)
            // A permanent revocation is effective even if the answer is not current.
            case .revoked(let since, let isHold)
            where isCurrent || !isHold && since.map { $0.isReached(by: date) } ?? false:
                let until = isHold ? lifetime.until : Lifetime.endless
                let lifetime = Lifetime(since: lifetime.since, until: until)
                return Answer(status: .revoked, isCurrent: isCurrent, lifetime: lifetime)
            default: continue
            }
        }
        return good
    }

    private static func isCurrent(_ answer: OCSPObject.SingleResponse, _ date: Date) -> Bool {
        guard let this = answer.thisUpdate, this.isReached(by: date + clockTolerance) else { return false }
        if let next = answer.nextUpdate { return next.isLater(than: date - clockTolerance) }
        return this.isLater(than: date - longestAnswer)
    }

    private static func lifetime(_ answer: OCSPObject.SingleResponse) -> Lifetime? {
        guard let since = answer.thisUpdate?.date else { return nil }
        let until = answer.nextUpdate?.date ?? since.addingTimeInterval(longestAnswer)
        // A response may contain the last second of 9999 (RFC 5280 §4.1.2.5), which here means a permanent revocation.
        return Lifetime(since: since, until: min(until, Lifetime.endless.addingTimeInterval(-1)))
    }
}

extension OCSPResponse: Hashable {
    package static func == (one: OCSPResponse, other: OCSPResponse) -> Bool { one.der == other.der }

    // Hashes only two parts, because the response may be long. The beginning names the time and the certificate, and the end is
    // the signature, if no certificates follow it.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(der.prefix(512))
        hasher.combine(der.suffix(256))
    }
}

/// A request to an OCSP responder for the status of one certificate.
///
/// RFC 6960 §4.1, restricted as in RFC 5019 §2.1: one certificate, identified by SHA-1 hashes (which all responders support),
/// and no nonce, so that responders may send cached responses. The weak hash does no harm, because the signature and the time
/// of the response decide.
package struct OCSPRequest: Hashable, Sendable {
    /// The encoding of the request, which is sent with HTTP POST.
    package let der: [UInt8]

    /// - Throws: libcrypto's error if it cannot read a certificate.
    package init(about certificate: Certificate, issuedBy issuer: Certificate) throws(OpenSSLError) {
        der = try OCSPRequestEncoder.der(about: certificate.x509(), issuedBy: issuer.x509())
    }
}

extension OCSPResponse {
    /// The validity period of the status of `certificate` in the response; nil if the response contains no usable status at
    /// `date`.
    package func lifetime(about certificate: Certificate, issuedBy issuer: Certificate, at date: Date) -> Lifetime? {
        answer(about: certificate, issuedBy: issuer, at: date)?.lifetime
    }
}

/// The identifiers of certificates in OCSP responses.
enum OCSPCertificateNames {
    /// The identifiers of `certificate` with every digest that responders use; empty if libcrypto cannot read the
    /// certificate.
    static func all(of certificate: Certificate, issuedBy issuer: Certificate) -> [OCSPObject.CertificateID] {
        let pair = Pair(certificate: certificate.fingerprint, issuer: issuer.fingerprint)
        if let known = recent[pair] { return known }
        guard let subject = try? certificate.x509(), let authority = try? issuer.x509() else { return [] }
        let all = OCSPObject.CertificateID.all(of: subject, issuedBy: authority)
        recent[pair] = all
        return all
    }

    private struct Pair: Hashable {
        let certificate: Fingerprint
        let issuer: Fingerprint
    }

    private static let recent = BoundedCache<Pair, [OCSPObject.CertificateID]>(capacity: 256)
}

/// The identifiers of the certificates that one response is about, parsed on first use.
final class OCSPSubjects: Sendable {
    private let subjects = Mutex<Set<OCSPObject.CertificateID>?>(nil)

    func read(_ make: () -> Set<OCSPObject.CertificateID>) -> Set<OCSPObject.CertificateID> {
        subjects.withLock { subjects in
            if let subjects { return subjects }
            let made = make()
            subjects = made
            return made
        }
    }
}
