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
        for (index, issuer) in IssuerSearch(among: known).issuers(of: certificate).enumerated() {
            let isAnchor = anchors.contains(issuer.fingerprint)
            tree.add("issued by \(issuer.subject)\(isAnchor ? ", trusted here" : "")", level: index + 1)
        }
        text = tree.text
    }
}
