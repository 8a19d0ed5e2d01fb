import CMSSyntax
import Foundation
import PKIX
import SMIME
import TestSupport

extension Keyring {
    /// The keys that a case of the corpora needs.
    init(_ needs: Corpus.Case.Needs?) throws {
        self.init([])
        guard let needs else { return }
        if let p12 = needs.p12 {
            let file = try PKCS12(Fixtures.corpus(p12), passphrase: needs.password ?? "")
            identities = file.identities.map { Identity(unchecked: $0.certificate, $0.key) }
        }
        if let certificate = needs.cert, let key = needs.key {
            let owned = try Certificate.all(in: Fixtures.corpus(certificate))
            for case .privateKey(let encoded) in try KeyMaterial.read(Fixtures.corpus(key)) {
                let key = try encoded.decode(passphrase: nil)
                identities += owned.filter(key.belongs(to:)).map { Identity(unchecked: $0, key) }
            }
        }
        if let anchor = needs.ca { trust.anchors = try Certificate.all(in: Fixtures.corpus(anchor)) }
        if let extra = needs.extra {
            certificates = try Certificate.all(in: Fixtures.corpus(extra))
            trust.intermediates = certificates
        }
    }
}

extension SignedDataWriter.Signer {
    /// The signer for a person in `certs/`.
    init(person name: String) throws { self.init(try TestIdentity(name).identityWithChain) }
}
