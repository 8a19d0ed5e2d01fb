import Foundation
package import InternetMessage
package import PKIX

/// A person's address and certificates as a vCard (RFC 6350).
package struct ContactCard {
    private let name: String
    private let address: EmailAddress
    private let certificates: [Certificate]

    /// - Parameter name: the person's name; if nil, the card shows the address.
    package init(of address: EmailAddress, name: String?, _ certificates: [Certificate]) {
        self.name = name?.escapedForDisplay ?? address.text
        self.address = address
        self.certificates = certificates
    }

    /// The text of the file, with the line ends that vCard requires.
    package var text: String {
        let keys = certificates.map { "KEY:data:application/pkix-cert;base64,\(Data($0.der).base64EncodedString())" }
        let lines = ["BEGIN:VCARD", "VERSION:4.0", "FN:\(Self.escaped(name))", "EMAIL:\(Self.escaped(address.text))"]
        return (lines + keys + ["END:VCARD"]).map { FoldedLine.folding($0, width: 75, lineEnd: "\r\n") }.joined()
    }

    /// `value` with special characters escaped. `value` must not contain control characters.
    ///
    /// RFC 6350 §3.4
    private static func escaped(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        // This loop visits scalars, because a combining mark after a comma forms one `Character` with the comma.
        for scalar in value.unicodeScalars {
            if ["\\", ",", ";"].contains(scalar) { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }
}

/// A long line of a text format, folded: each continuation line begins with a space.
enum FoldedLine {
    /// `line` in pieces of at most `width` bytes, including the space; no multibyte character is split.
    ///
    /// RFC 2849 note 10, RFC 6350 §3.2
    static func folding(_ line: String, width: Int, lineEnd: String) -> String {
        var text = ""
        var count = 0
        for scalar in line.unicodeScalars {
            let size = String(scalar).utf8.count
            if count + size > width {
                text += "\(lineEnd) "
                count = 1
            }
            text.unicodeScalars.append(scalar)
            count += size
        }
        return text + lineEnd
    }
}
