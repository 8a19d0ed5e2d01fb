import ByteStreams
public import InternetMessage
public import LibCrypto
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Identity {
    /// - Throws: `.noKeyPair` if `key` does not belong to `certificate`.
    public init(certificate: Certificate, key: PrivateKey, chain: [Certificate] = []) throws(SMIMEError) {
        guard key.belongs(to: certificate) else { throw SMIMEError(CMSError.noKeyPair) }
        self.init(unchecked: certificate, key, chain: chain)
    }

    /// Reads the first identity in a PKCS#12 file that can sign mail; if there is none, the first identity.
    ///
    /// `PKCS12(_:openedBy:)` reads all identities and takes a `Passphrase`, which is wiped from memory.
    ///
    /// - Throws: `.noKeyPair`; the errors of `PKCS12`.
    public init(pkcs12 bytes: some Sequence<UInt8>, passphrase: String) throws(SMIMEError) {
        let file = try PKCS12(bytes, passphrase: passphrase)
        guard let first = file.identities.first(where: \.certificate.canSign) ?? file.identities.first else {
            throw SMIMEError(CMSError.noKeyPair)
        }
        self = first
    }

    /// Reads the first private key in PEM and its certificate. The other certificates become the chain.
    ///
    /// - Parameters:
    ///   - bytes: certificates and keys in PEM, in any order.
    ///   - passphrase: the passphrase of an encrypted key.
    /// - Throws: `.noKeyPair` if there is no key, or no certificate for the key; `.wrongPassphrase`, `.malformed`,
    ///   `.unsupported`, `.limitExceeded`
    public init(pem bytes: some Sequence<UInt8>, passphrase: String? = nil) throws(SMIMEError) {
        self = try SMIMEError.catching {
            var certificates: [Certificate] = []
            var encoded: EncodedPrivateKey?
            var bytes = Array(bytes)
            defer { bytes.wipe() }
            for item in try KeyMaterial.read(bytes) {
                switch item {
                case .certificate(let certificate): certificates.append(certificate)
                case .privateKey(let key): encoded = encoded ?? key
                default: break
                }
            }
            guard let encoded else { throw CMSError.noKeyPair }
            let key =
                try passphrase.map { try encoded.decode(passphrase: Passphrase($0.utf8)) }
                ?? encoded.decode(passphrase: nil)
            guard let own = certificates.first(where: key.belongs(to:)) else { throw CMSError.noKeyPair }
            return Identity(unchecked: own, key, chain: certificates.filter { $0 != own })
        }
    }
}

extension PrivateKey {
    /// Reads a PKCS#8 PrivateKeyInfo in DER (RFC 5958). The caller must wipe `bytes`. A key whose private and public parts do
    /// not belong together is malformed.
    ///
    /// - Throws: `.malformed`, `.unsupported`, `.limitExceeded`
    public init(pkcs8 bytes: some Sequence<UInt8>) throws(SMIMEError) {
        self = try SMIMEError.catching {
            var copy = Array(bytes)
            defer { copy.wipe() }
            let key = try PrivateKey(pkcs8: copy)
            try key.checkPair()
            return key
        }
    }

    /// Passes the key as PKCS#8 in DER to `body`, for another library. The bytes are wiped when `body` returns.
    ///
    /// - Throws: `.bug` if libcrypto cannot encode the key; `.callback` with the error that `body` throws, unless that is an
    ///   `SMIMEError`.
    public func withPKCS8<Value>(_ body: (RawSpan) throws -> Value) throws(SMIMEError) -> Value {
        try SMIMEError.catching {
            try withPKCS8 { (bytes: Span<UInt8>) in
                do { return try body(bytes.bytes) } catch { throw SMIMEError(thrownByCaller: error) }
            }
        }
    }
}

extension PKCS12 {
    /// Reads everything in a PKCS#12 file (RFC 7292).
    ///
    /// This can take a second or more, because the format makes guessing the passphrase slow on purpose: see `SMIMEExecutor`.
    ///
    /// - Throws: `.wrongPassphrase`, `.malformed`, `.unsupported`, `.limitExceeded`, `.noKeyPair`
    public init(_ bytes: some Sequence<UInt8>, passphrase: String?) throws(SMIMEError) {
        self = try SMIMEError.catching {
            guard let passphrase else { return try PKCS12(Array(bytes), passphrase: nil as Passphrase?) }
            return try PKCS12(Array(bytes), passphrase: Passphrase(passphrase.utf8))
        }
    }

    /// Reads everything in a PKCS#12 file, with a passphrase that is wiped from memory after use. A `String` cannot be wiped.
    ///
    /// - Throws: the errors of `init(_:passphrase:)`.
    public init(_ bytes: some Sequence<UInt8>, openedBy passphrase: borrowing Passphrase) throws(SMIMEError) {
        do { try self.init(Array(bytes), passphrase: passphrase.copy()) } catch { throw SMIMEError(error) }
    }

    /// Reads everything in a PKCS#12 file on `SMIMEExecutor`, so that no cooperative thread is blocked.
    ///
    /// - Throws: the errors of `init(_:passphrase:)`; `.cancelled`
    public static func read(
        _ bytes: some Sequence<UInt8> & Sendable,
        passphrase: String?
    ) async throws(SMIMEError) -> PKCS12 {
        try await SMIMEError.inBackground { try PKCS12(bytes, passphrase: passphrase) }
    }

    /// Encodes a PKCS#12 file in DER with these identities, their chains, and the certificates in `chain`, each once.
    ///
    /// - Throws: `.noKeyPair` without an identity; `.limitExceeded` if the file would be too large to be read again; `.bug`
    public static func encoded(
        _ identities: [Identity],
        chain: [Certificate] = [],
        passphrase: String,
        compatibility: Compatibility = .modern
    ) throws(SMIMEError) -> [UInt8] {
        try SMIMEError.catching {
            guard !identities.isEmpty else { throw CMSError.noKeyPair }
            var seen = Set(identities.map(\.certificate))
            let others = (identities.flatMap(\.chain) + chain).filter { seen.insert($0).inserted }
            return try encode(
                identities,
                chain: others,
                passphrase: Passphrase(passphrase.utf8),
                compatibility: compatibility
            )
        }
    }
}

extension CertificateList {
    /// Reads the first revocation list in DER or PEM (RFC 5280 §5).
    ///
    /// - Throws: `.malformed`, also if there is no revocation list; `.limitExceeded`
    public init(_ bytes: some Sequence<UInt8>) throws(SMIMEError) {
        self = try SMIMEError.catching {
            for case .certificateList(let list) in try KeyMaterial.read(Array(bytes)) { return list }
            throw CMSError.malformed(.keyMaterial, "it holds no revocation list")
        }
    }
}

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
    /// Checks key usage and purpose, validity, the strength of the key, whether libcrypto supports the key, and whether the
    /// certificate is that of an authority. `TrustStore.problems(of:for:with:at:)` judges the chain.
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

extension EmailAddress {
    /// Reads `text`, which must contain an address and nothing else.
    ///
    /// - Throws: `.malformed`
    public init(_ text: some StringProtocol) throws(SMIMEError) {
        self = try SMIMEError.catching { try EmailAddress(String(text)) }
    }
}
