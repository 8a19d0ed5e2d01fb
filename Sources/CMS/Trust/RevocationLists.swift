import COpenSSL

/// The revocation lists at hand where one certificate is judged, and the certificates that they may be signed with.
struct RevocationLists {
    /// What may speak for one path.
    struct Selection {
        fileprivate(set) var lists: [CertificateList] = []
        /// Lists that bear an authority's name but not its signature.
        fileprivate(set) var forged: [CertificateList] = []
        /// Lists that bear an authority's name, and that libcrypto cannot read.
        fileprivate(set) var unreadable: [CertificateList] = []
        /// The certificates beside the path that lists may be signed with.
        fileprivate(set) var signers: [Certificate] = []
        /// Whether some signatures were not checked, as that would have taken too long.
        fileprivate(set) var isCutShort = false
    }

    private let all: [CertificateList]
    /// The places of lists in `all`, by their issuer's name.
    private let places: [EncodingKey: [Int]]
    /// The certificates that bear the name of a list's issuer.
    private let signers: [Certificate]
    let effort: PathEffort

    /// The most lists that one verification looks at.
    private static let maximumLists = 64
    /// The most certificates beside the path that may have signed them.
    private static let maximumSigners = 32

    /// - Parameters:
    ///   - others: certificates that may have signed a list, beside those of a path.
    ///   - effort: what checking signatures may cost.
    init(_ all: [CertificateList], others: [Certificate], effort: PathEffort) {
        let places = Dictionary(grouping: all.indices) { all[$0].issuer.canonical }
        var seen: Set<Certificate> = []
        signers = others.filter { places[$0.subject.canonical] != nil && seen.insert($0).inserted }
        (self.all, self.places, self.effort) = (all, places, effort)
    }

    /// Leaves out what none of `path`, nor of those beside it, can have signed: a forged list must neither revoke nor hide anything.
    func selection(for path: [Certificate]) -> Selection {
        let known = Set(path)
        var selection = Selection()
        selection.signers = Array(signers.lazy.filter { !known.contains($0) }.prefix(Self.maximumSigners))
        let certificates = path + selection.signers
        let named = Dictionary(grouping: certificates, by: \.subject.canonical)
        for list in lists(namedBy: certificates) {
            let issuers = named[list.issuer.canonical] ?? []
            // Nothing is at hand that could show who signed it.
            if issuers.isEmpty { continue }
            if issuers.contains(where: { isSigned(list, by: $0) }) {
                selection.lists.append(list)
            } else if effort.isSpent {
                selection.isCutShort = true
            } else if (try? list.object()) == nil {
                selection.unreadable.append(list)
            } else {
                selection.forged.append(list)
            }
        }
        return selection
    }

    /// All lists, or, where there are too many, those by the issuers of `certificates`.
    private func lists(namedBy certificates: [Certificate]) -> [CertificateList] {
        guard all.count > Self.maximumLists else { return all }
        let places = Set(certificates.map(\.issuer.canonical)).flatMap { self.places[$0] ?? [] }
        return places.sorted().prefix(Self.maximumLists).map { all[$0] }
    }

    /// A list and a certificate that may have signed it: whether it did depends on nothing else.
    private struct Edge: Hashable {
        let list: Fingerprint
        let issuer: Fingerprint
    }
    private static let checked = RecentValues<Edge, Bool>(capacity: 1024)

    private func isSigned(_ list: CertificateList, by issuer: Certificate) -> Bool {
        let edge = Edge(list: list.fingerprint, issuer: issuer.fingerprint)
        effort.spend(1)
        if let known = Self.checked[edge] { return known }
        guard !effort.isSpent else { return false }
        effort.spend(PathEffort.reading + issuer.verificationCost + list.hashingCost)
        effort.hold(list)
        guard let isSigned = Self.verify(list, by: issuer) else { return false }
        Self.checked[edge] = isSigned
        return isSigned
    }

    /// Whether libcrypto may hold the selected lists against the certificates of `path`, which it does for each anew.
    func affords(_ selection: Selection, for path: [Certificate]) -> Bool {
        var units = 0
        for list in selection.lists {
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
    ///
    /// libcrypto: `X509_CRL_verify`
    static func verify(_ list: CertificateList, by issuer: Certificate) -> Bool? {
        defer { ERR_clear_error() }
        return try? withPointers(list.x509CRL(), issuer.publicKey().owned) { X509_CRL_verify($0, $1) == 1 }
    }
}

extension CertificateList {
    /// What it takes to hash it, beyond what it takes for a usual list, in the units of `PathEffort`.
    fileprivate var hashingCost: Int { der.count >> 17 }
}
