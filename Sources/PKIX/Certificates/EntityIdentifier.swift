import ByteStreams
package import SwiftASN1
import Synchronization

/// The reference to a signer's or recipient's certificate in CMS.
///
/// SignerIdentifier and RecipientIdentifier of RFC 5652 §5.3 and §6.2.1.
@nonexhaustive
public enum EntityIdentifier: Hashable, Sendable {
    /// The encoding of the issuer's name, and the content octets of the serial number.
    case issuerAndSerial(issuer: [UInt8], serialNumber: [UInt8])
    /// The value of the subjectKeyIdentifier extension.
    case subjectKeyIdentifier([UInt8])

    /// Whether the identifier refers to `certificate`.
    public func matches(_ certificate: Certificate) -> Bool {
        switch self {
        case .issuerAndSerial(let issuer, let serialNumber):
            // Names are compared by value, because another program may encode them in another way (RFC 5280 §7.1).
            certificate.serialNumber == serialNumber
                && (certificate.issuer.der == issuer || issuerName.map(certificate.issuer.matches) ?? false)
        case .subjectKeyIdentifier(let identifier):
            certificate.subjectKeyIdentifier == identifier
        }
    }

    /// The certificates among `candidates` to which the identifier refers, in their order. The issuer's name is parsed at most
    /// once, because it may be long.
    package func matching(_ candidates: [Certificate]) -> [Certificate] {
        guard case .issuerAndSerial(let issuer, let serialNumber) = self else { return candidates.filter(matches) }
        let numbered = candidates.filter { $0.serialNumber == serialNumber }
        guard numbered.contains(where: { $0.issuer.der != issuer }) else { return numbered }
        let name = issuerName
        return numbered.filter { $0.issuer.der == issuer || name.map($0.issuer.matches) ?? false }
    }

    /// The reference to `certificate` by issuer and serial number.
    package init(_ certificate: Certificate) {
        self = .issuerAndSerial(issuer: certificate.issuer.der, serialNumber: certificate.serialNumber)
    }
}

extension EntityIdentifier: CustomStringConvertible {
    /// The issuer's name; nil for a key identifier or an unreadable name.
    public var issuerName: DistinguishedName? {
        guard case .issuerAndSerial(let issuer, _) = self else { return nil }
        return try? DistinguishedName(ASN1Node.read(issuer))
    }

    /// The octets of the serial number or key identifier in hexadecimal.
    public var hexadecimal: String {
        switch self {
        case .issuerAndSerial(_, let serialNumber): serialNumber.hexadecimal
        case .subjectKeyIdentifier(let identifier): identifier.hexadecimal
        }
    }

    /// A description for users that is safe to print.
    public var description: String {
        switch self {
        case .issuerAndSerial: "serial \(hexadecimal) of \(issuerName.map { "\($0)" } ?? "an unreadable issuer")"
        case .subjectKeyIdentifier: "key identifier \(hexadecimal)"
        }
    }
}

extension EntityIdentifier {
    /// Reads `IssuerAndSerialNumber` or a key identifier implicitly tagged with `keyIdentifierTag`.
    package init(berEncoded node: ASN1Node, keyIdentifierTag: ASN1Identifier = .context(0)) throws {
        if node.identifier == keyIdentifierTag {
            let octets = try ASN1OctetString(berEncoded: node, withIdentifier: keyIdentifierTag)
            self = .subjectKeyIdentifier(Array(octets.bytes))
            return
        }
        self = try BER.sequence(node, identifier: .sequence) { nodes in
            try EntityIdentifier(issuer: nodes.next(), serialNumber: nodes.next())
        }
    }

    /// The fields of `IssuerAndSerialNumber`.
    package init(issuer: ASN1Node?, serialNumber: ASN1Node?) throws {
        guard let issuer, let serialNumber, serialNumber.identifier == .integer,
            case .primitive(let octets) = serialNumber.content
        else { throw CMSError.malformed(.cms, "issuer and serial number") }
        self = .issuerAndSerial(issuer: Array(issuer.encodedBytes), serialNumber: Array(octets))
    }

    /// Writes `IssuerAndSerialNumber` or the key identifier under [0].
    package func serialize(into coder: inout DER.Serializer) {
        switch self {
        case .issuerAndSerial(let issuer, let serialNumber):
            coder.appendConstructedNode(identifier: .sequence) { coder in
                coder.serializeRawBytes(issuer)
                coder.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: serialNumber) }
            }
        case .subjectKeyIdentifier(let identifier):
            coder.appendPrimitiveNode(identifier: .context(0)) { $0.append(contentsOf: identifier) }
        }
    }
}

/// A distinguished name in the canonical form used for comparison, computed on first use.
///
/// The form is cached: a message may contain a thousand lists and certificates with long names, and each name is compared for
/// each signer.
final class CanonicalName: Sendable {
    private let kept = Mutex<EncodingKey?>(nil)

    /// The canonical form of `relativeNames`, which must be the same in every call for one `CanonicalName`.
    func form(of relativeNames: [[DistinguishedName.Attribute]]) -> EncodingKey {
        kept.withLock { kept in
            let form = kept ?? EncodingKey(bytes: relativeNames.flatMap(Self.form))
            kept = form
            return form
        }
    }

    /// The form of one RDN; the order and repetition of its attributes do not matter.
    private static func form(_ relativeName: [DistinguishedName.Attribute]) -> [UInt8] {
        let attributes = Set(relativeName.map { framed(Array("\($0.type)".utf8)) + framed(folded($0)) })
        return framed(attributes.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self))
    }

    private static func folded(_ attribute: DistinguishedName.Attribute) -> [UInt8] {
        guard let text = attribute.text else { return attribute.encoding }
        var folded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x09...0x0d, 0x20: if folded.last != 0x20 { folded.append(0x20) }
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): folded.append(byte | 0x20)
            default: folded.append(byte)
            }
        }
        if folded.first == 0x20 { folded.removeFirst() }
        if folded.last == 0x20 { folded.removeLast() }
        return folded
    }

    /// `bytes` preceded by their length, so that different sequences of fields are encoded differently.
    private static func framed(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }
}
