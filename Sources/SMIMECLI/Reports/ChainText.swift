import PKIX
import SMIMEStore

/// A certificate's fingerprint, followed by its issuers, as far as the store has their certificates.
struct ChainText {
    /// The lines, each with its line end.
    let text: String

    init(of certificate: Certificate, in store: Store) async throws {
        let known = try await store.anchors.chain(above: certificate, includingRoots: true)
        let anchors = Set(try await store.anchors.all().map(\.certificate.fingerprint))
        var tree = TextTree("\(certificate.fingerprint)", indent: "  ")
        for (index, issuer) in Self.issuers(above: certificate, among: known).enumerated() {
            let isAnchor = anchors.contains(issuer.fingerprint)
            tree.add("issued by \(issuer.subject)\(isAnchor ? ", trusted here" : "")", level: index + 1)
        }
        text = tree.text
    }

    /// The issuer of `certificate`, the issuer of that issuer, and so on, as far as `known` has their certificates.
    ///
    /// No signature is verified: the tree shows what the certificates say.
    static func issuers(above certificate: Certificate, among known: [Certificate]) -> [Certificate] {
        var (chain, last) = ([Certificate](), certificate)
        var seen: Set<Fingerprint> = [certificate.fingerprint]
        while !last.isSelfIssued, let issuer = known.first(where: { $0.subject.matches(last.issuer) }),
            seen.insert(issuer.fingerprint).inserted
        {
            chain.append(issuer)
            last = issuer
        }
        return chain
    }
}
