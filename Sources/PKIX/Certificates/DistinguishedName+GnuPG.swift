import ByteStreams
import SwiftASN1

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
            let isEscaped = scalar == "/" || scalar == "\\" || scalar.isUnfitForDisplay
            if isEscaped {
                written += "\(scalar)".utf8.map { "\\x" + [$0].hexadecimal }.joined()
            } else {
                written.unicodeScalars.append(scalar)
            }
        }
    }
}
