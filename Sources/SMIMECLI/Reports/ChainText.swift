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
        var (last, level) = (certificate, 1)
        var seen: Set<Fingerprint> = [certificate.fingerprint]
        while !last.isSelfIssued, let issuer = known.first(where: { $0.subject.matches(last.issuer) }),
            seen.insert(issuer.fingerprint).inserted
        {
            let isAnchor = anchors.contains(issuer.fingerprint)
            tree.add("issued by \(issuer.subject)\(isAnchor ? ", trusted here" : "")", level: level)
            (last, level) = (issuer, level + 1)
        }
        text = tree.text
    }
}
