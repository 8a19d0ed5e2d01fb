package import Foundation
package import PKIX
package import SMIME

/// A certificate and its key from `certs/`; certs/README.md describes each of them.
package struct TestIdentity: Sendable {
    package let certificate: Certificate
    package let key: PrivateKey
    /// The intermediate certificates.
    package let chain: [Certificate]
    /// The folder of the files, for other programs: `cert.pem`, `key.pem`, `NAME.p12`.
    package let folder: URL

    package init(_ name: String) throws {
        folder = Fixtures.certs.appending(path: name)
        certificate = try Certificate(fixture: "\(name)/cert.pem")
        key = try PrivateKey(pem: Fixtures.cert("\(name)/key.pem"), passphrase: nil)
        let chain = folder.appending(path: "chain.pem").path
        self.chain =
            FileManager.default.fileExists(atPath: chain) ? try Certificate.all(fixture: "\(name)/chain.pem") : []
    }

    /// The identity without its chain.
    package var identity: Identity { Identity(unchecked: certificate, key) }

    /// The identity with its chain, as used for signing mail.
    package var identityWithChain: Identity { Identity(unchecked: certificate, key, chain: chain) }
}

extension Keyring {
    /// The keys of people in `certs/`, with a trusted root.
    package init(people names: [String]) throws {
        self.init(try names.map { try TestIdentity($0).identity }, trusting: [try Certificate(fixture: "ca/root.pem")])
    }
}

extension Certificate {
    /// The first certificate in a file in `certs/`.
    package init(fixture path: String) throws {
        guard let first = try Self.all(fixture: path).first else { throw CocoaError(.fileReadCorruptFile) }
        self = first
    }

    /// All certificates in a file in `certs/`.
    package static func all(fixture path: String) throws -> [Certificate] { try all(in: Fixtures.cert(path)) }

    /// All certificates in `bytes`; there may be none.
    package static func all(in bytes: [UInt8]) throws -> [Certificate] {
        try bytes.isEmpty
            ? [] : KeyMaterial.read(bytes).compactMap { if case .certificate(let found) = $0 { found } else { nil } }
    }
}

extension CertificateFactory {
    /// The certificate in NAME.pem.
    package func certificate(_ name: String) throws -> Certificate {
        guard let first = try Certificate.all(in: bytes("\(name).pem")).first else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return first
    }

    /// The key in NAME.key.
    package func key(_ name: String) throws -> PrivateKey { try PrivateKey(pem: bytes("\(name).key"), passphrase: nil) }
}
