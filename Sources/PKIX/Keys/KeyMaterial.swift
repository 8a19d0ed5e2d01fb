import ByteStreams
import LibCrypto
import SwiftASN1

/// One item of a file with keys and certificates.
///
/// Formats: PEM with any number of blocks and other text between the blocks, DER, and base64 without PEM lines. Contents:
/// certificates, revocation lists, PKCS#7 files of certificates (`.p7b`, `.p7c`), private keys, PKCS#12.
@nonexhaustive
package enum KeyMaterial: Sendable {
    case certificate(Certificate)
    case certificateList(CertificateList)
    /// A PKCS#12 file, which `PKCS12` can open.
    case pkcs12([UInt8])
    case privateKey(EncodedPrivateKey)

    /// The maximum number of certificates and lists in one PKCS#7 file.
    package static let maximumCertificates = 1000
    /// The maximum size of a file of keys or certificates in bytes: 128 MiB.
    package static let maximumFileBytes = CertificateList.maximumCount * 2

    /// Reads all items in `bytes`, in order. A leading UTF-8 byte order mark is ignored.
    ///
    /// PEM blocks of other kinds, such as certificate requests, are skipped. If the file contains a private key, the caller
    /// must wipe `bytes`.
    ///
    /// - Throws: `CMSError.malformed` if nothing is recognized, or if a recognized item is malformed; `.limitExceeded`.
    package static func read(_ bytes: [UInt8]) throws(CMSError) -> [KeyMaterial] {
        guard bytes.count <= maximumFileBytes else { throw .limitExceeded("file size") }
        guard bytes.starts(with: byteOrderMark) else { return try items(bytes) }
        var text = Array(bytes.dropFirst(byteOrderMark.count))
        defer { text.wipe() }
        return try items(text)
    }

    /// The certificates in `bytes`, and whether everything in `bytes` could be read.
    ///
    /// Unlike `read`, this function ignores malformed PEM blocks and malformed certificates in PKCS#7 files. If other people
    /// can add to the bytes, their additions must not hide the certificates.
    package static func certificates(in bytes: [UInt8]) -> (certificates: [Certificate], isComplete: Bool) {
        func certificates(_ items: [KeyMaterial]) -> [Certificate] {
            items.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
        }
        if bytes.first == 0x30 {
            if let items = try? item(bytes) { return (certificates(items), true) }
            if let items = try? CertificateBundle.read(bytes, ignoresMalformed: true) {
                return (certificates(items), false)
            }
        }
        // The bytes may be several files, of which some have no line end at their end.
        let text = PEM.divided(bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes)
        guard PEM.isPEM(text) else {
            guard let items = try? read(text) else { return ([], false) }
            return (certificates(items), true)
        }
        var found: [Certificate] = []
        let (blocks, isWhole) = PEM.readableBlocks(in: text)
        var isComplete = isWhole && !blocks.isEmpty && PEM.markCount(in: bytes) == 2 * blocks.count
        for block in blocks {
            if let items = try? read(block) {
                found += certificates(items)
                // Such as a label in lower case, or with two blanks before it.
                if items.isEmpty, block.label.uppercased().hasSuffix("CERTIFICATE") { isComplete = false }
            } else {
                isComplete = false
                found += certificates((try? CertificateBundle.read(block.der, ignoresMalformed: true)) ?? [])
            }
        }
        return (found, isComplete)
    }

    /// Whether `bytes` contain the BEGIN mark of a PEM block of any kind.
    package static func isPEM(_ bytes: [UInt8]) -> Bool { PEM.isPEM(bytes) }

    /// Whether a file that begins with `head` may hold a private key: PKCS#12 or a private key, in a format of `read`.
    package static func mayHoldPrivateKey(_ head: [UInt8]) -> Bool {
        guard head.starts(with: byteOrderMark) else { return mayBePrivateKey(head) }
        var text = Array(head.dropFirst(byteOrderMark.count))
        defer { text.wipe() }
        return mayBePrivateKey(text)
    }

    private static func mayBePrivateKey(_ head: [UInt8]) -> Bool {
        // The text before a PEM block may begin with the character 0, which is also the first byte of DER.
        if PEM.mayHoldPrivateKey(head) || mayBePrivateKey(der: head) { return true }
        // If the head ends after the first character of a group of four, another character makes it valid base64.
        guard var der = bareBase64(head) ?? bareBase64(head + [UInt8(ascii: "A")]) else { return false }
        defer { der.wipe() }
        return mayBePrivateKey(der: der)
    }

    private static func mayBePrivateKey(der head: [UInt8]) -> Bool {
        guard head.count > 1, head[0] == 0x30 else { return false }
        let lengthCount = head[1] < 0x80 ? 0 : Int(head[1] & 0x7F)
        let fields = head.dropFirst(2 + lengthCount)
        // PKCS#12, PKCS#8 and the older formats of RSA and EC keys begin with a version number.
        if fields.starts(with: [0x02, 0x01]) { return [0x02, 0x04, 0x30].contains(fields.dropFirst(3).first) }
        return (try? ElementExtent.elements(of: head, limit: 3).map(\.identifier)) == [0x30, 0x04]
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func items(_ bytes: [UInt8]) throws(CMSError) -> [KeyMaterial] {
        guard !bytes.isEmpty else { throw .malformed(.keyMaterial, "it is empty") }
        if bytes.first == 0x30, let items = try item(bytes) { return items }
        if PEM.isPEM(bytes) {
            var items: [KeyMaterial] = []
            for block in try PEM.blocks(in: bytes) { items += try read(block) }
            guard !items.isEmpty else { throw .malformed(.keyMaterial, "no PEM block with a key or certificate") }
            return items
        }
        if let der = bareBase64(bytes), let items = try item(der) { return items }
        let isCut = bytes.first == 0x30 && (try? ElementExtent(of: bytes)) == nil
        throw .malformed(
            .keyMaterial,
            isCut
                ? "damaged or cut off: its DER does not end where it should"
                : "neither PEM nor DER of a key or certificate"
        )
    }

    /// The bytes of a file that is base64 without PEM lines; nil for any other file.
    private static func bareBase64(_ bytes: [UInt8]) -> [UInt8]? {
        // "MI" is the beginning of a SEQUENCE with a long length in base64.
        guard bytes.starts(with: Array("MI".utf8)) else { return nil }
        return try? [UInt8](base64: bytes)
    }

    private static func read(_ block: PEM.Block) throws(CMSError) -> [KeyMaterial] {
        if let secret = block.secret { return privateKey(secret, block).map { [.privateKey($0)] } ?? [] }
        switch block.label {
        case "CERTIFICATE", "X509 CERTIFICATE": return [.certificate(try Certificate(der: block.der))]
        case "TRUSTED CERTIFICATE":
            // In a block with this label, OpenSSL's trust settings follow the certificate.
            let count = try parsing(.certificate) { try ElementExtent(of: block.der).count }
            return [.certificate(try Certificate(der: Array(block.der.prefix(count))))]
        case "X509 CRL": return [.certificateList(try CertificateList(der: block.der))]
        // gpgsm and git write the last of these labels.
        case "PKCS7", "CMS", "SIGNED MESSAGE": return try CertificateBundle.read(block.der)
        case "PKCS12": return [.pkcs12(block.der)]
        default: return []
        }
    }

    private static func privateKey(_ secret: SecretBytes, _ block: PEM.Block) -> EncodedPrivateKey? {
        switch block.label {
        case "PRIVATE KEY": return EncodedPrivateKey(encoding: .pkcs8(secret))
        case "ENCRYPTED PRIVATE KEY":
            return EncodedPrivateKey(encoding: .encryptedPKCS8(secret.copied()))
        case "DSA PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
            return EncodedPrivateKey(
                encoding: block.isEncrypted ? .traditionalEncryptedPEM(block.text) : .traditional(secret)
            )
        default: return nil
        }
    }

    /// Recognizes a DER or BER structure by its first elements; nil for any other structure.
    private static func item(_ der: [UInt8]) throws(CMSError) -> [KeyMaterial]? {
        guard let fields = try? ElementExtent.elements(of: der, limit: 4) else { return nil }
        switch fields.map(\.identifier) {
        case let shape where shape.starts(with: [0x02, 0x30, 0x04]):
            return [.privateKey(EncodedPrivateKey(encoding: .pkcs8(SecretBytes(copying: der))))]
        case let shape where shape.starts(with: [0x02, 0x30]): return [.pkcs12(der)]
        case let shape where shape.starts(with: [0x02, 0x02, 0x02]) || shape.starts(with: [0x02, 0x04]):
            return [.privateKey(EncodedPrivateKey(encoding: .traditional(SecretBytes(copying: der))))]
        case [0x30, 0x04]: return [.privateKey(EncodedPrivateKey(encoding: .encryptedPKCS8(der)))]
        case let shape where shape.first == 0x06: return try CertificateBundle.read(der)
        case [0x30, 0x30, 0x03]:
            // Certificates and revocation lists have this shape. Reading a certificate as a list fails at its version or its
            // validity period.
            if let list = try? CertificateList(der: der) { return [.certificateList(list)] }
            return [.certificate(try Certificate(der: der))]
        default: return nil
        }
    }
}

/// A SignedData that contains certificates, usually without a signature.
///
/// If it has signatures, only the certificates of signers and authorities are read, because a sender can add arbitrary
/// others.
///
/// RFC 5652 §5.1, RFC 8551 §3.8
private enum CertificateBundle {
    /// The maximum number of signers that are read.
    private static let maximumSigners = 16

    /// The signer that a SignerInfo names (RFC 5652 §5.3).
    private static func signer(of info: ASN1Node) throws -> EntityIdentifier {
        var fields = try ElementReader(info)
        _ = try fields.next(.integer)
        return try EntityIdentifier(berEncoded: fields.next())
    }

    /// - Parameter ignoresMalformed: whether malformed certificates, and all revocation lists, are left out.
    static func read(_ bytes: [UInt8], ignoresMalformed: Bool = false) throws(CMSError) -> [KeyMaterial] {
        let (certificates, lists, signers) = try parsing(.cms) {
            var info = try ElementReader(ASN1Node.read(bytes))
            guard try info.next(.objectIdentifier).objectIdentifier() == ASN1ObjectIdentifier.ContentType.signedData
            else {
                throw ElementReader.Mismatch(description: "not a SignedData")
            }
            var fields = try ElementReader(info.next(.context(0)).onlyChild())
            _ = try fields.next(.integer)
            _ = try fields.next(.set)
            _ = try fields.next(.sequence)
            // Elements with context tags are certificates or revocation data of other kinds than X.509.
            let certificates = try fields.optional(.context(0))?.children().filter { $0.identifier == .sequence } ?? []
            let lists = try fields.optional(.context(1))?.children().filter { $0.identifier == .sequence } ?? []
            let infos = try fields.optional(.set)?.children().prefix(maximumSigners) ?? []
            let signers = infos.isEmpty ? nil : infos.compactMap { try? signer(of: $0) }
            return (certificates.map { Array($0.encodedBytes) }, lists.map { Array($0.encodedBytes) }, signers)
        }
        guard certificates.count + lists.count <= KeyMaterial.maximumCertificates else {
            throw .limitExceeded("certificates")
        }
        var items: [KeyMaterial] = []
        for der in certificates {
            let certificate: Certificate
            do throws(CMSError) { certificate = try Certificate(der: der) } catch {
                guard ignoresMalformed else { throw error }
                continue
            }
            guard let signers, !certificate.isCertificateAuthority,
                !signers.contains(where: { $0.matches(certificate) })
            else {
                items.append(.certificate(certificate))
                continue
            }
        }
        for der in lists where !ignoresMalformed { items.append(.certificateList(try CertificateList(der: der))) }
        guard !items.isEmpty else {
            throw .malformed(.cms, "a SignedData without certificates of signers or authorities")
        }
        return items
    }
}
