#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Determines which certificates of a path are revoked, from the available data.
///
/// RFC 5280 §6.3
struct RevocationCheck {
    /// The status of one certificate.
    enum Status: Hashable {
        case good
        case revoked
        /// The status is unknown; the payload is a sentence that says why.
        case unknown(String)
    }

    private let path: CertificatePath
    private let date: Date
    /// Whether certificates outside the path may have signed the lists.
    private let admitsOthers: Bool
    /// The indices of the certificates to check. A trust anchor cannot revoke itself, and the certificates above a pinned
    /// certificate are irrelevant. A judged certificate that is a trust anchor is checked like a pinned one.
    private let places: [Int]

    /// - Parameter hasSoundAnchor: whether the path ends at a trust anchor and has no errors.
    init(_ path: CertificatePath, isPinned: Bool, hasSoundAnchor: Bool, at date: Date) {
        // Without a trust anchor, only the issuer's own key is known to be the issuer's: the sender may have made the
        // certificates above.
        let isCut = isPinned && path.end != .anchor
        self.path = isCut ? CertificatePath(certificates: Array(path.certificates.prefix(2)), end: path.end) : path
        self.date = date
        admitsOthers = hasSoundAnchor
        let all = self.path.certificates
        let count = isPinned ? 1 : path.end == .anchor ? max(1, all.count - 1) : all.count
        places = (0..<count).filter { !all[$0].isSelfIssued || $0 + 1 < all.count }
    }

    /// The revocation status of the path according to lists and responses.
    ///
    /// - Parameters:
    ///   - responses: the OCSP responses in the message.
    ///   - asked: the OCSP responses to requests of this program, sent now or earlier, for this chain or another.
    ///   - isHard: whether an unknown status is an error.
    func verdict(
        _ lists: RevocationLists,
        _ responses: [OCSPResponse],
        asked: [OCSPResponse],
        isHard: Bool
    ) -> ChainVerdict.Revocation {
        var problems: [Problem] = []
        var usesAllEvidence = true
        var isCutShort = false
        var statuses = statuses(lists, &problems, usesAllEvidence: &usesAllEvidence, isCutShort: &isCutShort)
        var areResponsesCutShort = false
        if !responses.isEmpty,
            !apply(
                Array(responses.prefix(Self.maximumResponses)),
                to: &statuses,
                lists,
                isCutShort: &areResponsesCutShort
            ) || responses.count > Self.maximumResponses
        {
            let text = "an OCSP response is not current, not about this chain, by an unauthorized responder"
            problems.append(Problem(.ocspUnusable, "\(text), or one of more than \(Self.maximumResponses)"))
            usesAllEvidence = false
        }
        _ = apply(asked, to: &statuses, lists, isCutShort: &areResponsesCutShort)
        if areResponsesCutShort {
            isCutShort = true
            problems.append(Problem(.revocationUnknown, "reading the OCSP responses takes too long"))
        }
        var worst = ChainVerdict.Revocation.Status.good
        var unknownPlaces: [Int] = []
        for place in places {
            let name = path.certificates[place].subject
            let notKnown = "no revocation list or OCSP response says whether the certificate of \(name) was revoked"
            switch statuses[place] ?? .unknown(notKnown) {
            case .good: break
            case .revoked:
                worst = .revoked
                let code: ProblemCode = place == 0 ? .certificateRevoked : .chainRevoked
                problems.append(Problem(code, "the certificate of \(name) was revoked by its issuer"))
            case .unknown(let why):
                if worst == .good { worst = .unknown }
                unknownPlaces.append(place)
                problems.append(
                    isHard ? Problem(.revocationUnknown, why) : Problem(warning: .revocationUnknown, why)
                )
            }
        }
        return ChainVerdict.Revocation(
            status: worst,
            problems: problems,
            unknownPlaces: unknownPlaces,
            isFirstRevoked: statuses[0] == .revoked,
            usesAllEvidence: usesAllEvidence,
            isCutShort: isCutShort
        )
    }

    /// The maximum number of responses in the message that one verification uses.
    private static let maximumResponses = 16

    /// Applies the OCSP responses. A response that says that a certificate is revoked takes precedence.
    ///
    /// - Returns: whether all responses could be used.
    private func apply(
        _ responses: [OCSPResponse],
        to statuses: inout [Int: Status],
        _ lists: RevocationLists,
        isCutShort: inout Bool
    ) -> Bool {
        var unused = Set(responses.indices)
        for place in places where place + 1 < path.certificates.count {
            let (certificate, issuer) = (path.certificates[place], path.certificates[place + 1])
            guard !certificate.isExcessive, !issuer.isExcessive else { continue }
            for (index, response) in responses.enumerated() where response.isAbout(certificate, issuedBy: issuer) {
                guard lists.budget.trySpend(response.cost + issuer.verificationCost) else {
                    isCutShort = true
                    continue
                }
                guard let answer = response.answer(about: certificate, issuedBy: issuer, at: date),
                    answer.responder.map({ !isRevoked(responder: $0, of: place + 1, lists) }) ?? true
                else { continue }
                unused.remove(index)
                if statuses[place] != .revoked { statuses[place] = answer.status }
            }
        }
        return unused.isEmpty
    }

    /// Whether `lists` revoke the certificate of a responder that the authority at `place` has authorized, or it would take
    /// too long to find out.
    private func isRevoked(responder: Certificate, of place: Int, _ lists: RevocationLists) -> Bool {
        let path = CertificatePath(certificates: [responder] + path.certificates[place...], end: path.end)
        var (unused, usesAllEvidence, isCutShort): ([Problem], Bool, Bool) = ([], true, false)
        let statuses = RevocationCheck(path, isPinned: true, hasSoundAnchor: admitsOthers, at: date)
            .statuses(lists, &unused, usesAllEvidence: &usesAllEvidence, isCutShort: &isCutShort)
        return statuses[0] == .revoked || isCutShort
    }

    private func statuses(
        _ lists: RevocationLists,
        _ problems: inout [Problem],
        usesAllEvidence: inout Bool,
        isCutShort: inout Bool
    ) -> [Int: Status] {
        func stop(_ text: String) {
            isCutShort = true
            problems.append(Problem(.revocationUnknown, text))
        }
        guard !lists.isEmpty else { return [:] }
        let usable = lists.selection(for: path.certificates, at: date, admitsOthers: admitsOthers)
        usesAllEvidence = usable.forged.isEmpty && usable.unreadable.isEmpty
        problems += usable.forged.map {
            Problem(.crlSignature, "a revocation list that names the issuer \($0.issuer) is not signed by this issuer")
        }
        problems += usable.unreadable.map {
            Problem(.crlUnreadable, "a revocation list that names the issuer \($0.issuer) cannot be read")
        }
        if usable.isCutShort { stop("finding the signers of the revocation lists takes too long") }
        if usable.hasTooMany {
            stop("more than \(RevocationLists.maximumLists) available revocation lists might cover the chain")
        }
        let cost = PathCost(path.certificates)
        guard usable.lists.isEmpty || cost.excessiveCertificate == nil && lists.budget.trySpend(cost.units),
            lists.trySpend(on: usable.lists, for: path.certificates)
        else {
            stop("reading the revocation lists takes too long")
            return [:]
        }
        let reading = RevocationListReading(path, places: places, at: date, signers: usable.signers)
        let (statuses, isIncomplete) = reading.statuses(usable.lists, lists, problems: &problems)
        if isIncomplete { stop("reading the revocation lists takes too long") }
        return statuses
    }
}
