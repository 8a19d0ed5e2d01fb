package import LibCrypto
import SwiftASN1

/// The keys and certificates of an opened PKCS#12 file.
///
/// This package reads and writes the format itself, because libcrypto 3.0 does not support PBMAC1, does not limit iteration
/// counts, and does not match keys with certificates. RFC 7292, RFC 9579
public struct PKCS12: Sendable {
    /// All pairs of a key and its certificate, in the order of the file's certificates; at least one. The chain of each
    /// identity is `certificates`.
    public let identities: [Identity]
    /// The certificates that have no key in the file: usually the chain.
    public let certificates: [Certificate]
    /// The revocation lists in the file.
    public let certificateLists: [CertificateList]
    /// Warnings about the file.
    public let problems: [Problem]

    /// The maximum number of certificates and revocation lists in one file.
    package static let maximumCertificates = 1000
    /// The maximum number of private keys in one file.
    package static let maximumKeys = 100
    /// The maximum size of a file in bytes.
    package static let maximumCount = PFX.maximumCount
    /// The default for the maximum number of key derivation iterations of one file.
    package static let maximumIterations = DerivationBudget.maximumIterations
    /// The highest value that a caller may choose for the maximum: libcrypto's own maximum.
    package static let libcryptoMaximumIterations = DerivationBudget.libcryptoMaximumIterations
    /// The payload of `CMSError.limitExceeded` for a file with too many iterations.
    package static let iterationLimit = DerivationBudget.name
    /// The maximum number of iterations that are run for one file with the default limit. The number includes each block of a
    /// key and each form of the passphrase.
    package static let maximumRuns = DerivationBudget.maximumRuns

    /// Opens a file in BER, DER or PEM. If the passphrase is absent (nil) or empty, both variants are tried.
    ///
    /// - Parameter maximumIterations: the maximum number of key derivation iterations that the file may specify. Up to twice
    ///   as many are run. With a higher limit, a malicious file could keep the processor busy for hours.
    /// - Throws: `CMSError.wrongPassphrase`; `.noKeyPair` if no key belongs to a certificate; `.limitExceeded` before the
    ///   derivations that exceed the limit; `.malformed`, also if private and public key do not belong together. If there is
    ///   no pair and something in the file cannot be read, the error is that of the first such key or part, usually
    ///   `.unsupported`.
    package init(
        _ bytes: [UInt8],
        passphrase: borrowing Passphrase?,
        maximumIterations: Int = PKCS12.maximumIterations
    ) throws(CMSError) {
        let budget = DerivationBudget(allowing: maximumIterations)
        try self.init(bytes, passphrase: passphrase, budget: budget)
    }

    /// Opens a file that this program wrote itself, in which each key may have its own key derivation.
    ///
    /// - Throws: the same errors as for any other file.
    package init(ownFile bytes: [UInt8], passphrase: borrowing Passphrase?) throws(CMSError) {
        // One derivation for each key, one for the certificates and one for the MAC, each with the number of iterations that
        // this package writes.
        let iterations = (Self.maximumKeys + 2) * Compatibility.modern.iterations
        let budget = DerivationBudget(iterations: max(iterations, Self.maximumIterations))
        try self.init(bytes, passphrase: passphrase, budget: budget)
    }

    private init(_ bytes: [UInt8], passphrase: borrowing Passphrase?, budget: DerivationBudget) throws(CMSError) {
        let pfx = try parsing(.pkcs12) { try PFX(try Self.unarmored(bytes)) }
        var opener = try SafeOpener(pfx, forms: PassphraseForm.all(for: passphrase), budget: budget)
        try opener.open(pfx.safes)
        try self.init(opener)
    }

    /// Whether `bytes` look like a PKCS#12 file, in BER, DER or PEM.
    package static func isPKCS12(_ bytes: [UInt8]) -> Bool {
        isBinary(bytes) || PEM.isPEM(bytes) && (try? unarmored(bytes)) != nil
    }

    /// Whether `bytes` look like a PKCS#12 file in BER or DER. The first byte alone is not sufficient evidence, because text
    /// before a PEM block may begin with it: the character 0.
    private static func isBinary(_ bytes: [UInt8]) -> Bool {
        guard let fields = try? ElementExtent.elements(of: bytes, limit: 2), fields.count == 2 else { return false }
        return bytes[fields[0].range] == [0x02, 0x01, 0x03] && fields[1].identifier == 0x30
    }

    static func unarmored(_ bytes: [UInt8]) throws -> [UInt8] {
        guard !isBinary(bytes), PEM.isPEM(bytes) else { return bytes }
        guard let block = try PEM.blocks(in: bytes).first(where: { $0.label == "PKCS12" }) else {
            throw CMSError.malformed(.pkcs12, "no PEM block of PKCS#12")
        }
        return block.der
    }

    private init(_ opened: SafeOpener) throws(CMSError) {
        var problems = opened.problems
        let keys = opened.keys.uniqued { $0.key.publicKeyInfo }
        let certificates = opened.certificates.uniqued { $0.certificate.fingerprint.bytes }
        let index = PrivateKeyIndex(keys.map(\.key))
        var paired: Set<[UInt8]> = []
        let keyed = certificates.compactMap { item -> Identity? in
            guard let match = index.places(for: item.certificate).first.map({ keys[$0] }) else { return nil }
            paired.insert(match.key.publicKeyInfo)
            let name = item.friendlyName ?? match.friendlyName
            return Identity(unchecked: item.certificate, match.key, friendlyName: name)
        }
        for item in keys where paired.contains(item.key.publicKeyInfo) { try item.key.checkPair() }
        guard !keyed.isEmpty else {
            if let failure = opened.failure { throw failure }
            throw .noKeyPair
        }
        for item in keys where !paired.contains(item.key.publicKeyInfo) {
            problems.append(
                Problem(
                    .pkcs12KeyWithoutCertificate,
                    "a private key (\(item.key.algorithm)) belongs to no certificate of the file and was left out"
                )
            )
        }
        let own = Set(keyed.map(\.certificate))
        let others = certificates.map(\.certificate).filter { !own.contains($0) }
        self.certificates = others
        identities = keyed.map { identity in
            var identity = identity
            identity.chain = others
            return identity
        }
        certificateLists = opened.certificateLists
        self.problems = problems
    }
}

extension Array {
    /// The first element for each value of `key`.
    fileprivate func uniqued<Key: Hashable>(by key: (Element) -> Key) -> [Element] {
        var seen: Set<Key> = []
        return filter { seen.insert(key($0)).inserted }
    }
}

extension PKCS12 {
    /// Whether gpgsm 2.2 would derive a wrong key for triple DES with SHA-1, and so could not read the file. One combination
    /// of salt and passphrase in about 128 is affected.
    ///
    /// - Throws: `CMSError.openSSL`
    package static func isMisreadByGpgsm(
        _ passphrase: borrowing Passphrase,
        salt: [UInt8],
        iterations: Int
    ) throws(CMSError) -> Bool {
        let form = PassphraseForm(writing: passphrase)
        return try lift { () throws(OpenSSLError) in
            try PKCS12KDF.isMisreadByGpgsm(form.bmp, salt, iterations: iterations)
        }
    }
}
