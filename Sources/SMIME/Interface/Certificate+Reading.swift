import ByteStreams
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Certificate {
    /// Reads the first certificate in PEM, DER, base64 or PKCS#7.
    ///
    /// - Throws: `.malformed` if there is no certificate; `.limitExceeded`
    public init(_ bytes: some Sequence<UInt8>) throws(SMIMEError) {
        guard let first = try Self.all(in: bytes).first else {
            throw SMIMEError(CMSError.malformed(.keyMaterial, "it holds no certificate"))
        }
        self = first
    }

    /// Reads the first certificate in a file.
    ///
    /// - Throws: `.file`; the errors of reading from bytes.
    public init(contentsOf path: String) throws(SMIMEError) { try self.init(SMIMEError.bytes(ofFile: path)) }

    /// All certificates in PEM, DER, base64 or PKCS#7, such as a bundle; empty if there are none.
    ///
    /// - Throws: `.malformed`, `.limitExceeded`
    public static func all(in bytes: some Sequence<UInt8>) throws(SMIMEError) -> [Certificate] {
        try SMIMEError.catching {
            try KeyMaterial.read(Array(bytes)).compactMap {
                if case .certificate(let found) = $0 { found } else { nil }
            }
        }
    }

    /// The problems that prevent using the certificate for `purpose`, independent of its chain; empty if there are none.
    ///
    /// Checks key usage and purpose, validity, and the strength of the key. `TrustStore.problems(of:for:at:)` also judges the
    /// chain.
    public func problems(for purpose: KeyPurpose, at time: Date = .now) -> [Problem] {
        CertificateFitness.problems(of: self, for: purpose, at: time)
    }
}

extension Certificate: Codable {
    /// Encodes the DER of the certificate as `Data`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(der))
    }

    /// - Throws: `DecodingError`; `SMIMEError` if the bytes are not a certificate.
    public init(from decoder: any Decoder) throws {
        let der = try decoder.singleValueContainer().decode(Data.self)
        self = try SMIMEError.catching { try Certificate(der: Array(der)) }
    }
}

extension Certificate: CustomStringConvertible {
    /// The subject and the fingerprint.
    public var description: String { "\(subject) (\(fingerprint))" }
}

extension SMIMEError {
    /// The bytes of a file of keys or certificates.
    static func bytes(ofFile path: String) throws(SMIMEError) -> [UInt8] {
        try catching {
            let source = try FileSource(path: path)
            guard source.count <= KeyMaterial.maximumFileBytes else { throw CMSError.limitExceeded("file size") }
            return try source.bytes(in: 0..<source.count)
        }
    }
}
