package import Foundation
package import PKIX
package import SMIME

/// Someone of `certs/`: a certificate with its key. certs/README.md says what each is for.
package struct TestIdentity: Sendable {
    package let certificate: Certificate
    package let key: PrivateKey
    /// The authorities between the certificate and the root.
    package let chain: [Certificate]
    /// Where the files lie, for other programs: `cert.pem`, `key.pem`, `NAME.p12`.
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

    /// The identity as mail is signed with it.
    package var identityWithChain: Identity { Identity(unchecked: certificate, key, chain: chain) }
}

extension Keyring {
    /// The keys of some people of `certs/`, whose root is trusted.
    package init(people names: [String]) throws {
        self.init(try names.map { try TestIdentity($0).identity }, trusting: [try Certificate(fixture: "ca/root.pem")])
    }
}

extension Certificate {
    /// The first certificate of a file below `certs/`.
    package init(fixture path: String) throws {
        guard let first = try Self.all(fixture: path).first else { throw CocoaError(.fileReadCorruptFile) }
        self = first
    }

    /// Every certificate of a file below `certs/`.
    package static func all(fixture path: String) throws -> [Certificate] { try all(in: Fixtures.cert(path)) }

    /// Every certificate in `bytes`, which may be empty.
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
