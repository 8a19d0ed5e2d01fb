import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The available revocation lists for judging one certificate, and their possible signers.
struct RevocationLists {
    /// The lists for one path.
    struct Selection {
        /// Lists that one of the path, or of those beside it, signed.
        fileprivate(set) var lists: [SelectedRevocationList] = []
        /// Lists that bear an authority's name but not its signature.
        fileprivate(set) var forged: [CertificateList] = []
        /// Lists that bear an authority's name, and that libcrypto cannot read.
        fileprivate(set) var unreadable: [CertificateList] = []
        /// The certificates beside the path that lists may be signed with.
        fileprivate(set) var signers: [Certificate] = []
        /// Whether some signatures were not checked, as that would have taken too long.
        fileprivate(set) var isCutShort = false
        /// Whether there are more lists than the limit, so that the content of the others is unknown.
        fileprivate(set) var hasTooMany = false
    }

    private let all: [CertificateList]
    /// The places of lists in `all`, by their issuer's name.
    private let places: [EncodingKey: [Int]]
    /// The certificates that bear the name of a list's issuer.
    private let signers: [Certificate]
    let effort: WorkBudget

    /// Whether there are none.
    var isEmpty: Bool { all.isEmpty }

    /// The most lists that one verification looks at.
    static let maximumLists = 64
    /// The most certificates beside the path that may have signed them.
    private static let maximumSigners = 32

    /// - Parameters:
    ///   - others: certificates that may have signed a list, beside those of a path.
    ///   - effort: what checking signatures may cost.
    init(_ all: [CertificateList], others: [Certificate], effort: WorkBudget) {
        let places = Dictionary(grouping: all.indices) { all[$0].issuer.canonical }
        var seen: Set<Certificate> = []
        signers = others.filter { places[$0.subject.canonical] != nil && seen.insert($0).inserted }
        (self.all, self.places, self.effort) = (all, places, effort)
    }

    /// Drops lists that no certificate of `path`, and no other known signer, can have signed, so a forged list neither revokes nor hides.
    ///
    /// If there are more than `maximumLists`, lists that say nothing about `path` at `date` are dropped, too.
    func selection(for path: [Certificate], at date: Date) -> Selection {
        let known = Set(path)
        let choice = all.count > Self.maximumLists ? RevocationListChoice(path, at: date) : nil
        var selection = Selection()
        let others = signers.lazy.filter {
            !known.contains($0) && choice?.names.contains($0.subject.canonical) != false
        }
        selection.signers = Array(others.prefix(Self.maximumSigners))
        let named = Dictionary(grouping: path + selection.signers, by: \.subject.canonical)
        if let choice {
            choose(with: choice, named, for: path, into: &selection)
        } else {
            // Without the certificate of a possible signer the signature cannot be verified.
            for list in all {
                if let selected = select(list, named, in: path, &selection) { selection.lists.append(selected) }
            }
        }
        return selection
    }

    /// Adds the lists by the issuers of the path, and by other possible signers.
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
            guard let selected = select(candidate.list, named, in: path, &selection),
                choice.take(candidate, by: selected.signer)
            else { continue }
            guard selection.lists.count < Self.maximumLists else {
                selection.hasTooMany = true
                return
            }
            selection.lists.append(selected)
        }
    }

    /// `list`, if one of those `named` by their subjects signed it; else nil, and a note in `selection`.
    private func select(
        _ list: CertificateList,
        _ named: [EncodingKey: [Certificate]],
        in path: [Certificate],
        _ selection: inout Selection
    ) -> SelectedRevocationList? {
        let issuers = named[list.issuer.canonical] ?? []
        guard let signer = signer(of: list, issuers, in: path, &selection) else { return nil }
        do { return try SelectedRevocationList(list, signedBy: signer) } catch {
            selection.unreadable.append(list)
            return nil
        }
    }

    /// Which of `issuers` signed `list`; nil if none did, and then a note in `selection` if there are issuers.
    ///
    /// libcrypto takes the certificate of the path that the list names for the signer. If that certificate did not sign
    /// the list, the list counts as forged, even if another authority of the same name signed it. Otherwise it could
    /// hide the true list.
    private func signer(
        of list: CertificateList,
        _ issuers: [Certificate],
        in path: [Certificate],
        _ selection: inout Selection
    ) -> Certificate? {
        guard !issuers.isEmpty else { return nil }
        if let signer = issuers.first(where: { isSigned(list, by: $0) }) {
            let claimed = list.authorityKeyIdentifier
            let isMeant = issuers.contains { issuer in
                path.contains(issuer) && (claimed ?? issuer.subjectKeyIdentifier) == issuer.subjectKeyIdentifier
            }
            if path.contains(signer) || !isMeant { return signer }
        }
        if effort.isSpent {
            selection.isCutShort = true
        } else if (try? list.object()) == nil {
            selection.unreadable.append(list)
        } else {
            selection.forged.append(list)
        }
        return nil
    }

    /// A list and a certificate that may have signed it: whether it did depends on nothing else.
    private struct Edge: Hashable {
        let list: Fingerprint
        let issuer: Fingerprint
    }
    private static let checked = BoundedCache<Edge, Bool>(capacity: 1024)

    private func isSigned(_ list: CertificateList, by issuer: Certificate) -> Bool {
        let edge = Edge(list: list.fingerprint, issuer: issuer.fingerprint)
        effort.spend(1)
        if let known = Self.checked[edge] { return known }
        guard !effort.isSpent else { return false }
        effort.spend(WorkBudget.reading + issuer.verificationCost + list.hashingCost)
        effort.hold(list)
        guard let isSigned = Self.verify(list, by: issuer) else { return false }
        Self.checked[edge] = isSigned
        return isSigned
    }

    /// Whether the budget suffices for libcrypto to check the certificates of `path` against `lists`, which it does for each certificate
    /// anew.
    func affords(_ lists: [SelectedRevocationList], for path: [Certificate]) -> Bool {
        var units = 0
        for list in lists.map(\.list) {
            effort.hold(list)
            for certificate in path where list.pointNames > 0 || certificate.issuer.matches(list.issuer) {
                units += list.hashingCost + list.pointNames * certificate.comparedParts.points / Self.pointsPerUnit
            }
        }
        return effort.affords(units)
    }

    /// How many names of distribution points libcrypto compares in the time of one unit.
    private static let pointsPerUnit = 5000

    /// Whether the signature of `list` fits the key of `issuer`; nil if libcrypto cannot look.
    static func verify(_ list: CertificateList, by issuer: Certificate) -> Bool? {
        guard let object = try? list.object(), let key = try? issuer.publicKey() else { return nil }
        return object.isSigned(by: key)
    }
}

extension CertificateList {
    /// The additional cost of hashing a large list, in the units of `WorkBudget`.
    fileprivate var hashingCost: Int { der.count >> 17 }
}
