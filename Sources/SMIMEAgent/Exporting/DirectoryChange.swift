import Foundation
package import InternetMessage
package import PKIX

/// A change to a person's directory entry that publishes the person's certificates, as LDIF (RFC 2849).
package struct DirectoryChange {
    private let name: String
    private let certificates: [Certificate]
    private let smimeCertificate: [UInt8]?

    /// - Parameters:
    ///   - name: the entry's distinguished name (RFC 4514); if nil, a name is derived from the address.
    ///   - smimeCertificate: a signature over empty content, which carries the chain without its root, and the ciphers
    ///     that the person's programs can read (RFC 2798 §2.8).
    package init(
        of address: EmailAddress,
        name: String?,
        _ certificates: [Certificate],
        smimeCertificate: [UInt8]?
    ) {
        self.name = name ?? Self.name(of: address)
        self.certificates = certificates
        self.smimeCertificate = smimeCertificate
    }

    /// The text of the file; lines end with line feeds.
    package var ldif: String { Self.ldif(of: [self]) }

    /// The text of a file with several changes.
    package static func ldif(of changes: [DirectoryChange]) -> String {
        "version: 1\n\n" + changes.map(\.record).joined(separator: "\n")
    }

    /// `pattern` with `%s` replaced by the address, and `%u` by the address's local part.
    package static func name(_ pattern: String, for address: EmailAddress) -> String {
        pattern.replacing(/%[su]/) { escaped($0.0 == "%s" ? address.text : address.localPart) }
    }

    private var record: String {
        let values = [
            ("userCertificate;binary", certificates.map(\.der)),
            ("userSMIMECertificate;binary", [smimeCertificate].compactMap(\.self)),
        ]
        var lines = [Self.line("dn", value: name), "changetype: modify"]
        for (attribute, values) in values where !values.isEmpty {
            lines.append("replace: \(attribute)")
            lines += values.map { "\(attribute):: \(Data($0).base64EncodedString())" }
            lines.append("-")
        }
        return lines.map { FoldedLine.folding($0, width: 76, lineEnd: "\n") }.joined()
    }

    private static func name(of address: EmailAddress) -> String {
        let parts = [("mail", address.text)] + address.asciiDomain.split(separator: ".").map { ("dc", String($0)) }
        return parts.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: ",")
    }

    /// `value` with the characters escaped that are special in a distinguished name.
    ///
    /// RFC 4514 §2.4
    private static func escaped(_ value: String) -> String {
        // This loop visits scalars, because a combining mark after a comma forms one `Character` with the comma.
        let scalars = Array(value.unicodeScalars)
        var text = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            let isEdge = index == 0 && ["#", " "].contains(scalar) || index == scalars.count - 1 && scalar == " "
            if isEdge || "\"+,;<>\\".unicodeScalars.contains(scalar) { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }

    /// A line with an attribute and its value, in base64 if the value is not a SAFE-STRING.
    private static func line(_ attribute: String, value: String) -> String {
        let isSafe =
            value.utf8.allSatisfy { $0 < 128 && $0 != 0 && $0 != 10 && $0 != 13 }
            && !(value.utf8.first.map(" :<".utf8.contains) ?? false) && value.utf8.last != 32
        return isSafe ? "\(attribute): \(value)" : "\(attribute):: \(Data(value.utf8).base64EncodedString())"
    }
}
