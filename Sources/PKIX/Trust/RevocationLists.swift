import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The available revocation lists for judging one certificate, and the possible signers of the lists.
struct RevocationLists {
    /// The lists for one path.
    struct Selection {
        /// The lists that were signed by a certificate of the path, or by another possible signer.
        fileprivate(set) var lists: [SelectedRevocationList] = []
        /// Lists with an authority's name that the authority did not sign.
        fileprivate(set) var forged: [CertificateList] = []
        /// Lists with an authority's name that libcrypto cannot read.
        fileprivate(set) var unreadable: [CertificateList] = []
        /// The certificates outside the path that may have signed lists.
        fileprivate(set) var signers: [Certificate] = []
        /// Whether some signatures were not checked because the budget was exhausted.
        fileprivate(set) var isCutShort = false
        /// Whether there are more lists than the limit, so that some lists were not read.
        fileprivate(set) var hasTooMany = false
    }

    private let all: [CertificateList]
    /// The indices of lists in `all`, by their issuer's name.
    private let places: [EncodingKey: [Int]]
    /// The keys that are known to have signed lists, by the lists' fingerprints.
    private let knownKeys: [Fingerprint: PublicKeyDigest]
    /// The certificates among the initializer's `others` whose subject is the issuer of a list.
    private let signers: [Certificate]
    let budget: WorkBudget

    /// Whether there are no lists.
    var isEmpty: Bool { all.isEmpty }
    /// Whether any of the `others` has the name of a list's issuer.
    var hasOtherSigners: Bool { !signers.isEmpty }

    /// The maximum number of lists that one verification uses.
    static let maximumLists = 64
    /// The maximum number of certificates outside the path that may have signed lists.
    private static let maximumSigners = 32

    /// - Parameters:
    ///   - knownKeys: the keys that are known to have signed lists, by the lists' fingerprints.
    ///   - others: further certificates that may have signed a list. Certificates of the path among them are ignored.
    ///   - budget: the budget for checking signatures.
    init(
        _ all: [CertificateList],
        signedBy knownKeys: [Fingerprint: PublicKeyDigest],
        others: [Certificate],
        budget: WorkBudget
    ) {
        let places = Dictionary(grouping: all.indices) { all[$0].issuer.canonical }
        var seen: Set<Certificate> = []
        signers = others.filter { places[$0.subject.canonical] != nil && seen.insert($0).inserted }
        (self.all, self.places, self.knownKeys, self.budget) = (all, places, knownKeys, budget)
    }

    /// The lists that were signed by a certificate of `path` or another known signer. So a forged list neither revokes a
    /// certificate nor hides another list.
    ///
    /// If there are more than `maximumLists`, lists that are irrelevant to `path` at `date` are left out as well.
    ///
    /// - Parameter admitsOthers: whether lists signed by certificates outside the path are used. This requires a path without
    ///   errors to a trust anchor; otherwise the sender may have made a part of the path. The signer's certificate must have
    ///   been issued by an authority of the path: anyone who may issue certificates for authorities can give them the name of
    ///   another authority.
    func selection(for path: [Certificate], at date: Date, admitsOthers: Bool) -> Selection {
        let known = Set(path)
        let replaceable = path.indices.dropFirst().filter { !path[$0].isValid(at: date) }
        let choice = all.count > Self.maximumLists ? RevocationListChoice(path, at: date) : nil
        var selection = Selection()
        let others = signers.lazy.filter {
            !known.contains($0) && choice?.names.contains($0.subject.canonical) != false
        }
        let issuance = IssuanceCheck(budget: budget)
        let issued = others.filter { other in
            path.dropFirst().contains { other.issuer.matches($0.subject) && issuance.isSigned(other, by: $0) }
        }
        selection.signers =
            admitsOthers
            ? issued.prefix(Self.maximumSigners).filter { other in
                // libcrypto prefers another certificate of the authority that is valid at `date`, even if that certificate does
                // not permit signing lists.
                !replaceable.contains { isOther(other, of: path[$0], for: path[$0 - 1]) }
            } : []
        let named = Dictionary(grouping: path + selection.signers, by: \.subject.canonical)
        if let choice {
            choose(with: choice, named, for: path, into: &selection)
        } else {
            // Lists without the certificate of a possible signer are left out, because their signatures cannot be verified.
            for list in all {
                if let selected = select(list, named, in: path, selection: &selection) {
                    selection.lists.append(selected)
                }
            }
        }
        return selection
    }

    /// Whether `other` is another certificate of `authority` that libcrypto may choose as the issuer of `certificate`.
    private func isOther(_ other: Certificate, of authority: Certificate, for certificate: Certificate) -> Bool {
        guard other.publicKeyInfo == authority.publicKeyInfo, other.subject.matches(authority.subject),
            let issuer = try? other.x509(), let child = try? certificate.x509()
        else { return false }
        return issuer.mayHaveIssued(child)
    }

    /// Adds the lists that `choice` chooses among those by the issuers of the path's certificates, by the cRLIssuers that
    /// these certificates name, and by the issuers of the other possible signers.
    private func choose(
        with choice: RevocationListChoice,
        _ named: [EncodingKey: [Certificate]],
        for path: [Certificate],
        into selection: inout Selection
    ) {
        var choice = choice
        let names = choice.names.union(selection.signers.map(\.issuer.canonical))
        let lists = names.flatMap { places[$0] ?? [] }.sorted().map { all[$0] }
        for candidate in choice.candidates(in: lists) where !choice.isSuperseded(candidate) {
            guard let selected = select(candidate.list, named, in: path, selection: &selection),
                choice.choose(candidate, by: selected.signer)
            else { continue }
            guard selection.lists.count < Self.maximumLists else {
                selection.hasTooMany = true
                return
            }
            selection.lists.append(selected)
        }
    }

    /// Returns `list` with its signer; nil if `signer(of:)` finds none, or if the list's extensions are unreadable. In the
    /// second case, the list is added to the unreadable lists of `selection`.
    private func select(
        _ list: CertificateList,
        _ named: [EncodingKey: [Certificate]],
        in path: [Certificate],
        selection: inout Selection
    ) -> SelectedRevocationList? {
        let issuers = named[list.issuer.canonical] ?? []
        guard let signer = signer(of: list, issuers, in: path, &selection) else { return nil }
        do { return try SelectedRevocationList(list, signedBy: signer) } catch {
            selection.unreadable.append(list)
            return nil
        }
    }

    /// The certificate in `issuers` that signed `list`; nil if there is none. The reason is then added to `selection`. But
    /// nothing is added if the list belongs to another authority: all `issuers` have other keys than the one that is known to
    /// have signed the list, or other key identifiers than the list names.
    ///
    /// libcrypto assumes that the signer is the certificate of the path that the list names. If that certificate did not sign
    /// the list, the list is treated as forged, even if another authority with the same name signed it. Otherwise the list
    /// could hide the real list.
    private func signer(
        of list: CertificateList,
        _ issuers: [Certificate],
        in path: [Certificate],
        _ selection: inout Selection
    ) -> Certificate? {
        let known = knownKeys[list.fingerprint]
        let issuers = known.map { key in issuers.filter { $0.publicKeyDigest == key } } ?? issuers
        guard !issuers.isEmpty else { return nil }
        // The list of another authority with the same name has no effect on this path. libcrypto also compares the key
        // identifiers.
        if let named = list.authorityKeyIdentifier,
            !issuers.contains(where: { $0.subjectKeyIdentifier == nil || $0.subjectKeyIdentifier == named })
        {
            return nil
        }
        if let signer = issuers.first(where: { isSigned(list, by: $0) }) {
            let claimed = list.authorityKeyIdentifier
            let isMeant = issuers.contains { issuer in
                path.contains(issuer) && (claimed ?? issuer.subjectKeyIdentifier) == issuer.subjectKeyIdentifier
            }
            if path.contains(signer) || !isMeant { return signer }
        }
        if budget.isSpent {
            selection.isCutShort = true
        } else if (try? list.object()) == nil {
            selection.unreadable.append(list)
        } else {
            selection.forged.append(list)
        }
        return nil
    }

    /// A list and a possible signer. Whether the signer signed the list depends only on these two.
    private struct Edge: Hashable {
        let list: Fingerprint
        let issuer: Fingerprint
    }
    private static let checked = BoundedCache<Edge, Bool>(capacity: 1024)

    private func isSigned(_ list: CertificateList, by issuer: Certificate) -> Bool {
        let edge = Edge(list: list.fingerprint, issuer: issuer.fingerprint)
        budget.spend(1)
        if let known = Self.checked[edge] { return known }
        guard !budget.isSpent else { return false }
        budget.spend(WorkBudget.reading + issuer.verificationCost + list.hashingCost)
        budget.keepObject(of: list)
        guard let isSigned = Self.verify(list, by: issuer) else { return false }
        Self.checked[edge] = isSigned
        return isSigned
    }

    /// Whether the budget suffices for libcrypto's check of `path` against `lists`. libcrypto repeats this check for each
    /// certificate.
    func trySpend(on lists: [SelectedRevocationList], for path: [Certificate]) -> Bool {
        var units = 0
        for list in lists.map(\.list) {
            budget.keepObject(of: list)
            for certificate in path where list.pointNames > 0 || certificate.issuer.matches(list.issuer) {
                units += list.hashingCost + list.pointNames * certificate.comparedParts.points / Self.pointsPerUnit
            }
        }
        return budget.trySpend(units)
    }

    /// The number of distribution point names that libcrypto compares per unit.
    private static let pointsPerUnit = 5000

    /// Whether `list` was signed with the key of `issuer`; nil if libcrypto cannot check the signature.
    static func verify(_ list: CertificateList, by issuer: Certificate) -> Bool? {
        guard let object = try? list.object(), let key = try? issuer.publicKey() else { return nil }
        return object.isSigned(by: key)
    }
}

extension CertificateList {
    /// The additional cost of hashing a large list, in units of `WorkBudget`.
    fileprivate var hashingCost: Int { der.count >> 17 }
}
