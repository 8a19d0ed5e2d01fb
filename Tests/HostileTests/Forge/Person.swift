import Foundation
import TestSupport

/// A person in `certs/` whose key the attacker has.
struct Person: Sendable {
    let certificate: [UInt8]
    let chain: [[UInt8]]
    let key: AttackerKey

    init(_ name: String, certificate file: String = "cert.pem", key keyFile: String = "key.pem") throws {
        certificate = try PEMFile.blocks("\(name)/\(file)").first ?? []
        chain = try PEMFile.blocks("\(name)/chain.pem")
        key = try AttackerKey("\(name)/\(keyFile)")
    }

    /// A person with a new certificate and an existing key.
    init(certificate: [UInt8], chain: [[UInt8]] = [], key: AttackerKey) {
        self.certificate = certificate
        self.chain = chain
        self.key = key
    }

    var issuerAndSerial: [UInt8] { CertificateFields(certificate).issuerAndSerial }
    var keyIdentifier: [UInt8] { CertificateFields(certificate).keyIdentifier }

    static let alice = Result { try Person("alice") }
    static let bob = Result { try Person("bob") }
    static let carol = Result { try Person("carol") }
}

/// Fields parsed from a certificate's DER.
struct CertificateFields {
    let issuer, serial, subject: [UInt8]
    let extensions: [[UInt8]]

    init(_ der: [UInt8]) {
        var fields = TLV.children(TLV.children(der)[0])
        if fields[0][0] == 0xA0 { fields.removeFirst() }
        (serial, issuer, subject) = (fields[0], fields[2], fields[4])
        extensions = fields.last.map { $0[0] == 0xA3 ? TLV.children(TLV.children($0)[0]) : [] } ?? []
    }

    var issuerAndSerial: [UInt8] { TLV.sequence(issuer, serial) }

    /// The value of the subjectKeyIdentifier extension; empty if absent.
    var keyIdentifier: [UInt8] {
        let found = extensions.first { $0.starts(with: [0x30, $0[1]] + TLV.oid("2.5.29.14")) }
        return found.flatMap { TLV.children($0).last }.map { TLV.contents(TLV.contents($0)) } ?? []
    }
}

/// The DER in PEM files of `certs/`.
enum PEMFile {
    /// The base64 of the first block as a single line.
    static func text(_ name: String) throws -> [UInt8] {
        Array(Data(try blocks(name).first ?? []).base64EncodedString().utf8)
    }

    static func blocks(_ name: String) throws -> [[UInt8]] {
        let text = String(decoding: try Fixtures.cert(name), as: UTF8.self)
        return text.components(separatedBy: "-----BEGIN ").dropFirst().compactMap { block in
            let lines = block.split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("-----END") }
            return Data(base64Encoded: lines.joined()).map(Array.init)
        }
    }
}
