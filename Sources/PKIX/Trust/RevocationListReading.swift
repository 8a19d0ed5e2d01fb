import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds out what revocation lists say of the certificates of a path.
///
/// Of the lists of one issuer and scope only the newest counts (RFC 5280 §5.2.3). An expired list can still revoke a certificate
/// beside a current one, but never hides the current one. libcrypto decides which lists apply to a certificate; but of several it
/// looks at only one. So each list that names the certificate is checked alone, too: if they disagree, the certificate was
/// revoked.
struct RevocationListReading {
    private let path: CertificatePath
    private let places: [Int]
    private let date: Date
    /// Certificates beside the path that lists may be signed with.
    private let signers: [Certificate]

    /// The statuses of certificates, by their places in the path.
    typealias Statuses = [Int: RevocationCheck.Status]

    /// - Parameter places: those of the certificates that are looked at.
    init(_ path: CertificatePath, places: [Int], at date: Date, signers: [Certificate]) {
        (self.path, self.places, self.date, self.signers) = (path, places, date, signers)
    }

    /// The statuses by the selected lists; none if libcrypto cannot check.
    ///
    /// - Returns: the statuses, and whether some could not be found out in time.
    func statuses(
        _ selected: [SelectedRevocationList],
        _ lists: RevocationLists,
        _ problems: inout [Problem]
    ) -> (statuses: Statuses, isCutShort: Bool) {
        let current = SelectedRevocationList.current(of: selected.filter { $0.list.thisUpdate <= date }, at: date)
        let later = selected.filter { $0.list.thisUpdate > date }
        let complete = current.filter { !$0.edition.isDelta }
        // libcrypto takes the first delta list that fits.
        let deltas = current.filter(\.isUsableDelta).sorted { isLater($0.edition, $1.edition) }
        // An expired delta list does not cancel what a current list says.
        let lastingDeltas = deltas.filter { !$0.edition.hasEnded(at: date) }
        let foremost = foremost(of: complete) + foremost(of: deltas)
        var statuses = statuses(foremost.map(\.list), &problems)
        var isCutShort = false
        for place in places where statuses[place] != .revoked {
            let certificate = path.certificates[place]
            let issuer = path.certificates.dropFirst(place + 1).first
            for item in current + later where statuses[place] != .revoked && names(item, certificate) {
                guard !item.edition.isDelta else {
                    if item.isDeltaRevoking(certificate, issuedBy: issuer) { statuses[place] = .revoked }
                    continue
                }
                let isLater = item.list.thisUpdate > date
                let asked = isLater ? [item] : [item] + lastingDeltas
                guard lists.affords(asked, for: path.certificates), lists.effort.affords(path.certificates.count) else {
                    isCutShort = true
                    continue
                }
                if isRevoked(place, by: asked.map(\.list), isLater: isLater) { statuses[place] = .revoked }
            }
        }
        return (statuses, isCutShort)
    }

    /// `lists` without expired ones of a series that also has a current list.
    private func foremost(of lists: [SelectedRevocationList]) -> [SelectedRevocationList] {
        let lasting = Set(lists.filter { !$0.edition.hasEnded(at: date) }.map(\.series))
        return lists.filter { !$0.edition.hasEnded(at: date) || !lasting.contains($0.series) }
    }

    private func isLater(_ one: RevocationListEdition, _ other: RevocationListEdition) -> Bool {
        guard let number = one.number, let otherNumber = other.number, number != otherNumber else {
            return one.thisUpdate > other.thisUpdate
        }
        return number > otherNumber
    }

    /// Whether `item` lists `certificate` as revoked. If the list was issued after the time of judgement, its revocation date decides;
    /// without an entry such a list proves nothing.
    private func names(_ item: SelectedRevocationList, _ certificate: Certificate) -> Bool {
        guard item.list.thisUpdate > date else { return item.list.names(certificate) }
        return item.list.revocationDate(of: certificate).map { $0 <= date } ?? false
    }

    /// Whether libcrypto takes `lists`, of which the first names the certificate at `place`, for lists that revoke it.
    private func isRevoked(_ place: Int, by lists: [CertificateList], isLater: Bool) -> Bool {
        guard let findings = try? PathVerification.verify(path.certificates, at: date, lists: lists, others: signers)
        else { return false }
        let codes = findings.filter { $0.depth == place }.map(\.code)
        var unused: [Problem] = []
        return status(codes.filter { !isLater || $0 != .listNotYetValid }, at: place, &unused) == .revoked
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

    /// The status that libcrypto's errors about one certificate mean.
    private func status(_ codes: [VerificationCode], at place: Int, _ problems: inout [Problem])
        -> RevocationCheck.Status
    {
        let name = path.certificates[place].subject
        let outOfDate = "the revocation list of \(path.certificates[place].issuer) is out of date"
        let notKnown = "nothing at hand that is current says whether the certificate of \(name) was revoked"
        var unknown: String?
        for code in codes {
            switch code {
            case .revoked where unknown == nil || unknown == notKnown: return .revoked
            case .listExpired:
                let problem = Problem(.crlExpired, outOfDate)
                if !problems.contains(problem) { problems.append(problem) }
                unknown = unknown ?? notKnown
            case .noList, .listScope, .listNotYetValid:
                unknown = unknown ?? "no revocation list at hand speaks for \(name)"
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
