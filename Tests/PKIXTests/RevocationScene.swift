import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// The certificates root, ca below it, and leaf below ca; and the decoy, another authority with ca's name and key
/// identifier.
struct RevocationScene {
    let root, ca, leaf, decoy: Certificate
    let key, decoyKey: PrivateKey
    let now: Date

    init(leaf extensions: [String] = []) throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: CertificateFactory.authority)
        try factory.issue("decoy", subject: "/CN=CA", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com") + extensions
        try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: person)
        (root, ca) = (try factory.certificate("root"), try factory.certificate("ca"))
        (leaf, decoy) = (try factory.certificate("leaf"), try factory.certificate("decoy"))
        (key, decoyKey) = (try factory.key("ca"), try factory.key("decoy"))
        now = leaf.notBefore.addingTimeInterval(3600)
    }

    /// A list by ca or the decoy, issued `days` from now. If `revoked` is given, the list says that the leaf was revoked
    /// that many days from now.
    ///
    /// - Parameter entryIssuer: the certificate issuer named in the entry (RFC 5280 §5.3.3).
    func list(
        _ days: Double,
        revoked: Double? = nil,
        lasting: Double = 400,
        point: String? = nil,
        identifier: [UInt8]? = nil,
        isNamingKey: Bool = true,
        number: Int? = nil,
        base: Int? = nil,
        reason: UInt8? = nil,
        entryIssuer: Certificate? = nil,
        extra: [[UInt8]] = [],
        isGenuine: Bool = true
    ) throws -> CertificateList {
        func time(_ days: Double) -> [UInt8] {
            let text = now.addingTimeInterval(days * 86_400).formatted(.iso8601).filter(\.isNumber) + "Z"
            return TestDER.element(0x18, Array(text.utf8))
        }
        let algorithm: [UInt8] = [0x30, 0x0A, 0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]
        let reasonCode: [UInt8] = reason.map { TestDER.listExtension(21, [0x0A, 1, $0]) } ?? []
        let issuer: [UInt8] =
            entryIssuer.map { other in
                let name = TestDER.element(0x30, TestDER.element(0xA4, other.subject.der))
                return TestDER.listExtension(29, name, isCritical: true)
            } ?? []
        let details: [UInt8] = reasonCode + issuer
        let block: [UInt8] = details.isEmpty ? [] : TestDER.element(0x30, details)
        let entry = revoked.map {
            TestDER.element(0x30, TestDER.element(2, leaf.serialNumber), time($0), block)
        }
        let keyIdentifier = identifier ?? ca.subjectKeyIdentifier ?? []
        var extensions =
            isNamingKey ? TestDER.listExtension(35, TestDER.element(0x30, TestDER.element(0x80, keyIdentifier))) : []
        if let point {
            let names = TestDER.element(0xA0, TestDER.element(0xA0, TestDER.element(0x86, Array(point.utf8))))
            extensions += TestDER.listExtension(28, TestDER.element(0x30, names), isCritical: true)
        }
        if let number { extensions += TestDER.listExtension(20, TestDER.integer(number)) }
        if let base { extensions += TestDER.listExtension(27, TestDER.integer(base), isCritical: true) }
        extensions += extra.flatMap(\.self)
        let signed = TestDER.element(
            0x30,
            [2, 1, 1],
            algorithm,
            ca.subject.der,
            time(days),
            time(days + lasting),
            entry.map { TestDER.element(0x30, $0) } ?? [],
            extensions.isEmpty ? [] : TestDER.element(0xA0, TestDER.element(0x30, extensions))
        )
        let signature = try (isGenuine ? key : decoyKey).handle.sign(message: signed)
        let der = TestDER.element(0x30, signed, algorithm, TestDER.element(3, [0], signature))
        return try CertificateList(der: der)
    }

    /// The revocation status of the leaf. The anchor is the leaf's issuer, unless the decoy must be considered as well.
    func revocation(
        _ lists: [CertificateList],
        extra: [Certificate] = [],
        extraLists: [CertificateList] = [],
        after days: Double = 0
    ) -> ChainVerdict.Revocation? {
        var store = TrustStore(anchors: [ca])
        store.certificateLists = lists
        let date = now.addingTimeInterval(days * 86_400)
        return store.judge(leaf, extra: extra, extraLists: extraLists, purpose: .signing, at: date).revocation
    }
}

/// DER assembled by hand.
enum TestDER {
    static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let contents = parts.flatMap(\.self)
        guard contents.count > 127 else { return [tag, UInt8(contents.count)] + contents }
        let length = withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }

    /// An Extension with the OID id-ce `number`, for a list or its entries.
    static func listExtension(_ number: UInt8, _ value: [UInt8], isCritical: Bool = false) -> [UInt8] {
        element(0x30, [6, 3, 0x55, 0x1D, number], isCritical ? [1, 1, 0xFF] : [], element(4, value))
    }

    /// A non-negative INTEGER.
    static func integer(_ value: Int) -> [UInt8] {
        let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
        return element(2, (bytes.first ?? 0x80) >= 0x80 ? [0] : [], bytes)
    }
}
