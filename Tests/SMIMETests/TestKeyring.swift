import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import SMIME
import TestSupport

/// Keys, certificates and anchors in memory.
struct TestKeyring: KeyProvider {
    var identities: [Identity] = []
    var known: [Certificate] = []
    var store = TrustStore()

    func identity(for recipients: [EntityIdentifier]) -> Identity? {
        recipients.lazy.compactMap { recipient in identities.first { recipient.matches($0.certificate) } }.first
    }

    func certificates(for signers: [EntityIdentifier]) -> [Certificate] { known }

    func trust(for certificates: [Certificate]) -> TrustStore { store }

    /// What a case of the corpora needs.
    init(_ needs: Corpus.Case.Needs?) throws {
        guard let needs else { return }
        if let p12 = needs.p12 {
            let file = try PKCS12(Fixtures.corpus(p12), passphrase: Passphrase(Array((needs.password ?? "").utf8)))
            identities = file.identities.map { Identity(unchecked: $0.certificate, $0.key) }
        }
        if let certificate = needs.cert, let key = needs.key {
            let certificates = try Self.certificates(certificate)
            let keys = try KeyMaterial.read(Fixtures.corpus(key)).compactMap { item -> PrivateKey? in
                guard case .privateKey(let encoded) = item else { return nil }
                return try encoded.decode(passphrase: nil)
            }
            for key in keys {
                for certificate in certificates where key.belongs(to: certificate) {
                    identities.append(Identity(unchecked: certificate, key))
                }
            }
        }
        if let anchor = needs.ca { store.anchors = try Self.certificates(anchor) }
        if let extra = needs.extra { known = try Self.certificates(extra) }
    }

    /// Nothing, or the test CA of `certs/` with some of its people.
    init(_ names: String...) throws {
        store.anchors = try Self.read(Fixtures.cert("ca/root.pem"))
        for name in names {
            guard let certificate = try Self.read(Fixtures.cert("\(name)/cert.pem")).first else { continue }
            for case .privateKey(let key) in try KeyMaterial.read(Fixtures.cert("\(name)/key.pem")) {
                identities.append(Identity(unchecked: certificate, try key.decode(passphrase: nil)))
            }
        }
    }

    /// The signer that `name` of `certs/` is.
    static func signer(_ name: String) throws -> SignedDataWriter.Signer {
        guard let identity = try TestKeyring(name).identities.first else { throw CMSError.noKeyPair }
        let chain = try read(Fixtures.cert("\(name)/chain.pem"))
        return SignedDataWriter.Signer(Identity(unchecked: identity.certificate, identity.key, chain: chain))
    }

    private static func certificates(_ file: String) throws -> [Certificate] { try read(Fixtures.corpus(file)) }

    static func read(_ bytes: [UInt8]) throws -> [Certificate] {
        try KeyMaterial.read(bytes).compactMap {
            if case .certificate(let certificate) = $0 { certificate } else { nil }
        }
    }
}
