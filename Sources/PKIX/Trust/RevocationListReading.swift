import LibCrypto
import SwiftASN1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Determines the status that revocation lists give to the certificates of a path.
///
/// Of the lists of one issuer and scope, only the newest is used (RFC 5280 §5.2.3), with two exceptions. An expired list can
/// still revoke a certificate in addition to a current list, but never hides the current list. A list issued after the
/// validation time can revoke a certificate if the entry's revocation date is not after that time. libcrypto decides which
/// lists apply to a certificate, but uses only one of several. Therefore each complete list with an entry for the certificate
/// is also checked by itself, with the current delta lists. If any of these checks finds a revocation, the certificate is
/// revoked.
struct RevocationListReading {
    private let path: CertificatePath
    private let places: [Int]
    private let date: Date
    /// Certificates outside the path that may have signed the lists.
    private let signers: [Certificate]

    /// The statuses of certificates, by the certificates' indices in the path.
    typealias Statuses = [Int: RevocationCheck.Status]

    /// - Parameter places: the indices of the certificates to check.
    init(_ path: CertificatePath, places: [Int], at date: Date, signers: [Certificate]) {
        (self.path, self.places, self.date, self.signers) = (path, places, date, signers)
    }

    /// The statuses according to the selected lists. The status of a certificate without a result is unknown.
    ///
    /// - Returns: the statuses, and whether some could not be determined within the budget.
    func statuses(
        _ selected: [SelectedRevocationList],
        _ lists: RevocationLists,
        problems: inout [Problem]
    ) -> (statuses: Statuses, isCutShort: Bool) {
        let current = SelectedRevocationList.current(of: selected.filter { $0.list.thisUpdate <= date }, at: date)
        let later = selected.filter { $0.list.thisUpdate > date }
        let complete = current.filter { !$0.edition.isDelta }
        // libcrypto uses the first applicable delta list.
        let deltas = current.filter(\.isUsableDelta).sorted { isLater($0.edition, than: $1.edition) }
        // An expired delta list does not override a current list.
        let lastingDeltas = deltas.filter { !$0.edition.isExpired(at: date) }
        let effective = withoutSupersededExpired(complete) + withoutSupersededExpired(deltas)
        var statuses = statuses(effective.map(\.list), &problems)
        var isCutShort = false
        let cost = path.certificates.count + PathCost(path.certificates).units
        for place in places where statuses[place] != .revoked {
            let certificate = path.certificates[place]
            let issuer = path.certificates.dropFirst(place + 1).first
            for item in current + later where statuses[place] != .revoked && revokes(item, certificate) {
                guard !item.edition.isDelta else {
                    if item.isOfIssuer(issuer) { statuses[place] = .revoked }
                    continue
                }
                let isLater = item.list.thisUpdate > date
                let checkedLists = isLater ? [item] : [item] + lastingDeltas
                guard lists.trySpend(on: checkedLists, for: path.certificates), lists.budget.trySpend(cost) else {
                    isCutShort = true
                    continue
                }
                let found = status(place, by: checkedLists.map(\.list), isLater: isLater)
                if found == .revoked || found != .good && item.isOfIssuer(issuer) { statuses[place] = .revoked }
            }
            // libcrypto treats a certificate with a removeFromCRL entry in a complete list as not revoked.
            if statuses[place] == .good, complete.contains(where: { $0.list.removesHold(of: certificate) }) {
                let text = "a complete revocation list has a removeFromCRL entry, which only delta lists may have, for"
                statuses[place] = .unknown("\(text) \(certificate.subject)")
            }
        }
        return (statuses, isCutShort)
    }

    /// `lists` without the expired ones for which there is a current list with the same scope and signer (series).
    private func withoutSupersededExpired(_ lists: [SelectedRevocationList]) -> [SelectedRevocationList] {
        let lasting = Set(lists.filter { !$0.edition.isExpired(at: date) }.map(\.series))
        return lists.filter { !$0.edition.isExpired(at: date) || !lasting.contains($0.series) }
    }

    private func isLater(_ one: RevocationListEdition, than other: RevocationListEdition) -> Bool {
        guard let number = one.number, let otherNumber = other.number, number != otherNumber else {
            return one.thisUpdate > other.thisUpdate
        }
        return number > otherNumber
    }

    /// Whether `item` revokes `certificate`. If the list was issued after the validation time, the revocation date in
    /// the certificate's entry decides. Such a list says nothing about certificates without an entry.
    private func revokes(_ item: SelectedRevocationList, _ certificate: Certificate) -> Bool {
        guard item.list.thisUpdate > date else { return item.list.revokes(certificate) }
        return item.list.revocationDate(of: certificate).map { $0 <= date } ?? false
    }

    /// The status of the certificate at `place` according to libcrypto and `lists`, the first of which has an entry for the
    /// certificate; nil if libcrypto cannot check the lists.
    private func status(_ place: Int, by lists: [CertificateList], isLater: Bool) -> RevocationCheck.Status? {
        guard let findings = try? PathVerification.verify(path.certificates, at: date, lists: lists, others: signers)
        else { return nil }
        let codes = findings.filter { $0.depth == place }.map(\.code)
        var unused: [Problem] = []
        return status(codes.filter { !isLater || $0 != .listNotYetValid }, at: place, &unused)
    }

    private func statuses(_ lists: [CertificateList], _ problems: inout [Problem]) -> Statuses {
        guard !lists.isEmpty, !places.isEmpty,
            let findings = try? PathVerification.verify(path.certificates, at: date, lists: lists, others: signers)
        else { return [:] }
        var statuses: Statuses = [:]
        for place in places {
            statuses[place] = status(findings.filter { $0.depth == place }.map(\.code), at: place, &problems)
        }
        return statuses
    }

    /// The status that follows from libcrypto's errors about one certificate.
    private func status(_ codes: [VerificationCode], at place: Int, _ problems: inout [Problem])
        -> RevocationCheck.Status
    {
        let name = path.certificates[place].subject
        let outOfDate = "the revocation list of \(path.certificates[place].issuer) is out of date"
        let notKnown = "no current revocation list says whether the certificate of \(name) was revoked"
        var unknown: String?
        for code in codes {
            switch code {
            case .revoked where unknown == nil || unknown == notKnown: return .revoked
            case .listExpired:
                let problem = Problem(.crlExpired, outOfDate)
                if !problems.contains(problem) { problems.append(problem) }
                unknown = unknown ?? notKnown
            case .noList, .listScope, .listNotYetValid:
                unknown = unknown ?? "no available revocation list says whether the certificate of \(name) was revoked"
            case .listSignatureFailure, .listPathInvalid,
                .noListIssuer, .noListSigning,
                .listUnknownCriticalExtension, .listSignatureUnreadable,
                .listThisUpdateUnreadable, .listNextUpdateUnreadable:
                unknown = "the revocation list for \(name) cannot be trusted"
            default: break
            }
        }
        return unknown.map(RevocationCheck.Status.unknown) ?? .good
    }
}

/// A revocation list whose signature was verified, with the properties that determine how the list is used.
struct SelectedRevocationList {
    let list: CertificateList
    /// The certificate whose key signed the list.
    let signer: Certificate
    let edition: RevocationListEdition
    let scope: CertificateList.Scope

    /// - Throws: swift-asn1's error if the extensions of the list are unreadable.
    init(_ list: CertificateList, signedBy signer: Certificate) throws {
        (self.list, self.signer) = (list, signer)
        (edition, scope) = (try list.edition, try list.scope)
    }

    /// The common properties of the lists of one series: the key that signed them, and the certificates that they cover.
    /// `current(of:at:)` compares only lists of one series. The authorityKeyIdentifier of a list is ignored, because the key
    /// that signed the list is known.
    struct Series: Hashable {
        private let issuer: EncodingKey
        private let key: [UInt8]
        private let distributionPoint: [UInt8]?

        init(_ scope: CertificateList.Scope, signer: Certificate) {
            (issuer, distributionPoint) = (scope.issuer, scope.distributionPoint)
            key = signer.publicKeyInfo
        }
    }

    var series: Series { Series(scope, signer: signer) }

    /// The `lists` that are in effect at `date`: the newest of each series, or several if they are equally new. An expired
    /// list is included unless another list replaces it. It can show that a certificate is revoked, but never that a
    /// certificate is good.
    static func current(of lists: [SelectedRevocationList], at date: Date) -> [SelectedRevocationList] {
        let places = Dictionary(grouping: lists.indices) { lists[$0].series }.values.flatMap { members in
            RevocationListEdition.current(of: members.map { lists[$0].edition }, at: date).map { members[$0] }
        }
        return places.sorted().map { lists[$0] }
    }

    /// Whether the list may be passed to libcrypto as a delta list. libcrypto dereferences a null pointer for a delta list
    /// without a number, and treats some delta lists that are limited to certain reasons as complete lists.
    var isUsableDelta: Bool {
        guard edition.isDelta, edition.number != nil, edition.baseNumber != nil else { return false }
        guard let point = scope.distributionPoint else { return true }
        guard let fields = try? ElementReader(ASN1Node.read(point)).remaining else { return false }
        return !fields.contains { $0.identifier == .context(3) }
    }

    /// Whether `issuer` itself signed the list, with a key that may sign lists. An entry for a certificate of this issuer then
    /// says that the certificate was revoked, even if the list is a delta list without its base, does not cover the
    /// certificate, or has a critical extension that libcrypto does not know. Such a list never shows that a certificate is
    /// good (RFC 5280 §5.2).
    func isOfIssuer(_ issuer: Certificate?) -> Bool {
        guard let issuer, issuer.publicKeyInfo == signer.publicKeyInfo else { return false }
        return signer.keyUsage?.contains(.cRLSign) ?? true
    }
}
