import LibCrypto
import SwiftASN1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Certificates in the order in which each was issued by the next.
struct CertificatePath {
    enum End: Hashable {
        case anchor
        /// The signatures of those that bear the issuer's name do not fit.
        case forged
        case missing
    }

    /// The judged certificate first.
    let certificates: [Certificate]
    /// The kind of the last certificate.
    let end: End
}

/// Finds the paths from a certificate to an anchor.
///
/// libcrypto follows the first issuer whose name fits and never looks back, so among many authorities of one name it
/// can miss the right one. Here an edge counts only if its signature verifies, the search backtracks, and each signature is charged to a
/// budget: with hundreds of authorities of one name, or circles of cross-certificates, the search ends soon.
struct PathBuilder {
    /// The longest path, both ends included.
    static let maximumDepth = 100
    /// The complete paths that are compared.
    private static let maximumPaths = 8
    private let date: Date
    private let anchors: Set<Fingerprint>
    private let systemAnchors: SystemAnchors?
    /// All available certificates, by the canonical form of their subjects.
    private let candidates: [EncodingKey: [Certificate]]

    private let effort: WorkBudget
    private var complete: [CertificatePath] = []
    private var longest: CertificatePath?
    private var deadEnds: Set<Fingerprint> = []
    private var usesSystemAnchors = false
    /// Whether a later search has the same result: not if it used the system's anchors, which may change, or if the budget was spent.
    var isRepeatable: Bool { !usesSystemAnchors && !effort.isSpent }

    /// Two certificates of which the one may have issued the other: whether it did depends on nothing else.
    private struct Edge: Hashable {
        let child: Fingerprint
        let issuer: Fingerprint
    }
    private static let checked = BoundedCache<Edge, Bool>(capacity: 1024)

    /// - Parameter systemAnchors: the system's anchors, if they count in addition to those of `store`.
    init(
        _ store: TrustStore,
        systemAnchors: SystemAnchors?,
        extra: [Certificate],
        effort: WorkBudget,
        at date: Date
    ) {
        self.date = date
        self.effort = effort
        anchors = Set(store.anchors.map(\.fingerprint))
        self.systemAnchors = systemAnchors
        var seen: Set<Fingerprint> = []
        let all = (store.anchors + store.intermediates + extra).filter { seen.insert($0.fingerprint).inserted }
        candidates = Dictionary(grouping: all) { $0.subject.canonical }
    }

    /// Complete paths, or else the longest that there is; at least one.
    mutating func paths(from certificate: Certificate) -> [CertificatePath] {
        _ = extend([certificate], isAnchor: anchors.contains(certificate.fingerprint))
        guard complete.isEmpty else { return complete }
        return [longest ?? CertificatePath(certificates: [certificate], end: .missing)]
    }

    /// Follows every issuer of the last certificate; whether an anchor was reached.
    private mutating func extend(_ path: [Certificate], isAnchor: Bool) -> Bool {
        guard let last = path.last else { return false }
        if isAnchor {
            complete.append(CertificatePath(certificates: path, end: .anchor))
            return true
        }
        guard !effort.isSpent, path.count < Self.maximumDepth, !deadEnds.contains(last.fingerprint), !last.isExcessive
        else { return false }
        var reached = false
        var hasIssuer = false
        let issuers = issuers(of: last)
        for (issuer, isAnchor) in issuers where !path.contains(issuer) {
            guard complete.count < Self.maximumPaths else { return true }
            guard !issuer.isExcessive else {
                // Such a path is only reported, if no other is found. libcrypto never reads the certificate.
                if path.count >= longest?.certificates.count ?? 0 {
                    longest = CertificatePath(certificates: path + [issuer], end: .missing)
                }
                hasIssuer = true
                continue
            }
            guard isSigned(last, by: issuer) else { continue }
            hasIssuer = true
            if extend(path + [issuer], isAnchor: isAnchor) { reached = true }
        }
        if !hasIssuer, path.count > longest?.certificates.count ?? 0 {
            // Two authorities that certified each other end in a certificate that is already in the path, which is no
            // forgery.
            let isForged = !last.isSelfIssued && !issuers.isEmpty && !issuers.contains { path.contains($0.0) }
            longest = CertificatePath(certificates: path, end: isForged ? .forged : .missing)
        }
        if !reached { deadEnds.insert(last.fingerprint) }
        return reached
    }

    /// The certificates with the name of `certificate`'s issuer, the most promising first.
    private mutating func issuers(of certificate: Certificate) -> [(Certificate, isAnchor: Bool)] {
        var found = (candidates[certificate.issuer.canonical] ?? []).map {
            ($0, isAnchor: anchors.contains($0.fingerprint))
        }
        if !found.contains(where: \.isAnchor), let systemAnchors {
            usesSystemAnchors = true
            found += systemAnchors.certificates(named: certificate.issuer).map { ($0, isAnchor: true) }
        }
        func rank(_ candidate: (Certificate, isAnchor: Bool)) -> Int {
            let key = candidate.0.subjectKeyIdentifier
            let fits = key != nil && key == certificate.authorityKeyIdentifier
            return (fits ? 4 : 0) + (candidate.isAnchor ? 2 : 0) + (candidate.0.isValid(at: date) ? 1 : 0)
        }
        return found.map { (candidate: $0, rank: rank($0)) }.sorted { $0.rank > $1.rank }.map(\.candidate)
    }

    /// Whether `issuer` can have issued `certificate` and its key fits the signature.
    mutating func isSigned(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        let edge = Edge(child: certificate.fingerprint, issuer: issuer.fingerprint)
        effort.spend(1)
        if let known = Self.checked[edge] { return known }
        guard !effort.isSpent else { return false }
        effort.spend(WorkBudget.reading + certificate.readingCost + issuer.readingCost)
        let cost = issuer.verificationCost
        guard let child = try? certificate.x509(), let parent = try? issuer.x509() else {
            // libcrypto could not check the signature. That result is not cached, and costs budget each time.
            effort.spend(cost)
            return false
        }
        var result = parent.mayHaveIssued(child)
        if result {
            effort.spend(cost)
            result = child.isSigned(by: parent)
        }
        Self.checked[edge] = result
        return result
    }
}

extension Certificate {
    /// About how long one signature of this key takes to check, where RSA-2048 with a small exponent takes 1.
    package var verificationCost: Int {
        switch publicKeyAlgorithm {
        case .rsa(let bits), .rsaPSS(let bits):
            let size = min(bits, 16_384) / 2048 + 1
            return size * size * max(1, rsaExponentBits / 17)
        case .ellipticCurve("P-256"), .ed25519, .postQuantum: return 3
        default: return 20
        }
    }

    private var rsaExponentBits: Int {
        guard var info = try? ElementReader(ASN1Node.read(publicKeyInfo)), (try? info.next()) != nil,
            let key = try? info.next().bits(), var fields = try? ElementReader(ASN1Node.read(key)),
            (try? fields.next()) != nil, let exponent = try? fields.next().primitive()
        else { return 0 }
        return min(exponent.count, 2048) * 8
    }
}
