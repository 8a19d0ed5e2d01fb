import SwiftASN1

/// One algorithm that the owner of a certificate announces to read.
///
/// RFC 8551 §2.5.2: an OID with the very parameter encoding that it is compared by.
public struct SMIMECapability: Hashable, Sendable {
    let algorithm: AlgorithmIdentifier

    package init(_ algorithm: AlgorithmIdentifier) { self.algorithm = algorithm }

    /// The algorithm's name as `aes-256-gcm`, or its dotted OID.
    public var name: String { algorithm.displayName }

    /// What we announce, best first: what we read and want to be sent.
    static let ours: [SMIMECapability] = [ContentCipher.aes256GCM, .aes128GCM, .aes256CBC, .aes128CBC].map {
        SMIMECapability(AlgorithmIdentifier($0.oid))
    }

    /// The capabilities of an attribute value or certificate extension.
    package static func list(_ encoded: [UInt8]) throws -> [SMIMECapability] {
        try BER.parse(encoded).children(.sequence).map { SMIMECapability(try AlgorithmIdentifier(berEncoded: $0)) }
    }

    /// The DER of SMIMECapabilities.
    static func encode(_ capabilities: [SMIMECapability]) throws -> [UInt8] {
        try der { coder in try coder.serializeSequenceOf(capabilities.map(\.algorithm)) }
    }
}
