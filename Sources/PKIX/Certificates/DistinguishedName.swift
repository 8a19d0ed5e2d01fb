import ByteStreams
import LibCrypto
import SwiftASN1

/// The name of a certificate's subject or issuer.
///
/// Two names are equal if their encodings are equal; `matches` compares names as RFC 5280 §7.1 requires for chains.
public struct DistinguishedName: Sendable {
    /// A type and a value in a name.
    package struct Attribute: Hashable, Sendable {
        let type: ASN1ObjectIdentifier
        /// The encoding of the value.
        let encoding: [UInt8]
        /// The value as text; nil if it is not a string.
        let text: String?
    }

    /// The encoding in the certificate.
    public let der: [UInt8]
    /// The relative distinguished names (RDNs) in the order of the encoding, usually the most general first.
    let relativeNames: [[Attribute]]
    private let canonicalName = CanonicalName()

    init(_ node: ASN1Node) throws {
        der = Array(node.encodedBytes)
        relativeNames = try ElementReader(node).remaining.map { set in
            try ElementReader(set, .set).remaining.map { attribute in
                var fields = try ElementReader(attribute)
                let type = try fields.next(.objectIdentifier).objectIdentifier()
                let value = try fields.next()
                return Attribute(type: type, encoding: Array(value.encodedBytes), text: value.directoryString)
            }
        }
    }

    /// The most specific common name.
    public var commonName: String? { texts(.NameAttributes.commonName).last }

    /// The values of the emailAddress attributes, as written in the certificate.
    package var emailAddresses: [String] { texts(.NameAttributes.emailAddress) }

    /// Whether the name contains line breaks, NUL or other ASCII control characters, which no legitimate name contains.
    package var holdsControlCharacters: Bool {
        relativeNames.joined().contains { attribute in
            attribute.text?.unicodeScalars.contains { $0.value < 32 || $0.value == 127 } ?? false
        }
    }

    /// Whether both names denote the same entity. Differences of case, string type, and number of blanks between words are
    /// ignored.
    ///
    /// RFC 5280 §7.1, to the extent of libcrypto's `X509_NAME_cmp`: only ASCII letters are folded.
    public func matches(_ other: DistinguishedName) -> Bool {
        der == other.der || canonical == other.canonical
    }

    /// The canonical form. The canonical forms of matching names are equal.
    var canonical: EncodingKey { canonicalName.form(of: relativeNames) }

    private func texts(_ type: ASN1ObjectIdentifier) -> [String] {
        relativeNames.joined().filter { $0.type == type }.compactMap(\.text)
    }
}

extension DistinguishedName: Hashable {
    public static func == (a: DistinguishedName, b: DistinguishedName) -> Bool { a.der == b.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

extension DistinguishedName: CustomStringConvertible {
    /// The name in the notation of RFC 4514, most specific first. It is safe to print: control and bidirectional characters
    /// are written as hexadecimal bytes. Of a name of more than 8 KB, only a part is written, followed by an ellipsis.
    public var description: String {
        let isLong = der.count > Self.shownCount
        let most = isLong ? Self.shownParts : .max
        let text = relativeNames.suffix(most).reversed().map { relativeName in
            relativeName.prefix(most).map { attribute in
                "\(Self.label(attribute.type))=\(isLong ? Self.beginning(attribute) : Self.value(attribute))"
            }.joined(separator: "+")
        }.joined(separator: ",")
        return isLong ? "\(text)…" : text
    }

    /// The size in bytes of the longest name that is written as a whole: a report may contain a name many times for each
    /// signature.
    private static let shownCount = 8 << 10
    /// The number of RDNs of a longer name that are written, and of attributes in each of them.
    private static let shownParts = 10
    /// The number of characters of an attribute in a longer name that are written.
    private static let shownCharacters = 100

    /// The beginning of an attribute's value.
    private static func beginning(_ attribute: Attribute) -> String {
        let text = attribute.text.map { String($0.unicodeScalars.prefix(shownCharacters)) }
        let encoding = Array(attribute.encoding.prefix(shownCharacters))
        return value(Attribute(type: attribute.type, encoding: encoding, text: text))
    }

    static func label(_ type: ASN1ObjectIdentifier) -> String {
        labels.first { $0.type == type }?.label ?? "\(type)"
    }

    private static func value(_ attribute: Attribute) -> String {
        guard let text = attribute.text else { return "#\(attribute.encoding.hexadecimal)" }
        var escaped = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            let isFirst = index == 0
            switch scalar {
            case "\"", "+", ",", ";", "<", ">", "\\": escaped += "\\\(scalar)"
            case "#" where isFirst, " " where isFirst: escaped += "\\\(scalar)"
            case _ where scalar.isUnsafeToDisplay:
                escaped += "\(scalar)".utf8.map { "\\" + [$0].hexadecimal.uppercased() }.joined()
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped.hasSuffix(" ") && escaped != "\\ " ? escaped.dropLast() + "\\ " : escaped
    }

    private static let labels: [(type: ASN1ObjectIdentifier, label: String)] = [
        (.NameAttributes.commonName, "CN"), (.NameAttributes.localityName, "L"),
        (.NameAttributes.stateOrProvinceName, "ST"), (.NameAttributes.organizationName, "O"),
        (.NameAttributes.organizationalUnitName, "OU"), (.NameAttributes.countryName, "C"),
        (.NameAttributes.domainComponent, "DC"), (.NameAttributes.emailAddress, "emailAddress"),
        (.NameAttributes.serialNumber, "serialNumber"), (.NameAttributes.surname, "SN"),
        (.NameAttributes.givenName, "GN"), (.NameAttributes.title, "title"), (.NameAttributes.pseudonym, "pseudonym"),
        ([2, 5, 4, 9], "street"), ([2, 5, 4, 97], "organizationIdentifier"),
        ([0, 9, 2342, 19_200_300, 100, 1, 1], "UID"),
    ]
}

extension ASN1Node {
    /// The text of a DirectoryString, IA5String, VisibleString or NumericString; nil if the element has another type or is
    /// badly encoded.
    var directoryString: String? {
        guard case .primitive(let bytes) = content else { return nil }
        switch identifier {
        case .utf8String: return String(validating: bytes, as: UTF8.self)
        case .printableString, .ia5String, .visibleString, .numericString:
            return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        // According to the standard this is T.61; in practice certificates contain Latin-1 here.
        case .teletexString: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case .bmpString: return String(bigEndianUTF16: bytes)
        case .universalString: return String(bigEndianUTF32: bytes)
        default: return nil
        }
    }
}

extension String {
    /// Decodes UTF-16 in big-endian order, as in a BMPString; nil if it is ill-formed.
    init?(bigEndianUTF16 bytes: ArraySlice<UInt8>) {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else { return nil }
        self = text
    }

    /// Decodes UTF-32 in big-endian order, as in a UniversalString; nil if it is ill-formed.
    init?(bigEndianUTF32 bytes: ArraySlice<UInt8>) {
        guard bytes.count.isMultiple(of: 4) else { return nil }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { start in
            bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        guard let text = String(validating: units, as: UTF32.self) else { return nil }
        self = text
    }
}

extension DistinguishedName {
    /// The name as gpgsm writes it in status lines and lists, such as `/CN=Alice Example/O=Example`: first the common
    /// attributes in a fixed order, then the other attributes, most specific first. Slashes, backslashes and characters
    /// unsafe for display are written as bytes, such as `\x2f`.
    ///
    /// GnuPG: sm/certdump.c, `gpgsm_format_name`
    package var gnuPGDescription: String {
        let attributes = relativeNames.reversed().joined().map { (label: Self.gnuPGLabel($0.type), attribute: $0) }
        let usual = Self.usualGnuPGLabels.flatMap { label in attributes.filter { $0.label == label } }
        let others = attributes.filter { !Self.usualGnuPGLabels.contains($0.label) }
        return (usual + others).map { "/\($0.label)=\(Self.gnuPGValue($0.attribute))" }.joined()
    }

    private static let usualGnuPGLabels = ["CN", "OU", "O", "STREET", "L", "ST", "C", "EMail"]

    /// The labels that differ from those of RFC 4514.
    private static let gnuPGLabels: [ASN1ObjectIdentifier: String] = [
        .NameAttributes.emailAddress: "EMail", .NameAttributes.serialNumber: "SerialNumber",
        .NameAttributes.title: "T", .NameAttributes.pseudonym: "Pseudo", [2, 5, 4, 9]: "STREET",
        [2, 5, 4, 13]: "D", [2, 5, 4, 15]: "BC", [2, 5, 4, 16]: "ADDR", [2, 5, 4, 17]: "PostalCode",
        [2, 5, 4, 97]: "2.5.4.97",
    ]

    private static func gnuPGLabel(_ type: ASN1ObjectIdentifier) -> String { gnuPGLabels[type] ?? label(type) }

    private static func gnuPGValue(_ attribute: Attribute) -> String {
        guard let text = attribute.text else { return "#\(attribute.encoding.hexadecimal)" }
        return text.unicodeScalars.reduce(into: "") { written, scalar in
            let isEscaped = scalar == "/" || scalar == "\\" || scalar.isUnsafeToDisplay
            if isEscaped {
                written += "\(scalar)".utf8.map { "\\x" + [$0].hexadecimal }.joined()
            } else {
                written.unicodeScalars.append(scalar)
            }
        }
    }
}

extension DistinguishedName {
    /// A key of 32 bytes for indexes. The keys of matching names are equal.
    package var matchingKey: [UInt8] {
        get throws(CMSError) {
            try lift { () throws(OpenSSLError) in try DigestAlgorithm.sha256.digest(canonical.bytes) }
        }
    }
}
