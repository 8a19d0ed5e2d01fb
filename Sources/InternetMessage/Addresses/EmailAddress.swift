import ByteStreams

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An email address: `local@domain`.
///
/// Two addresses are equal if they differ only in case, in unnecessary quoting, or in the form of an international domain
/// (A-labels or U-labels). Similar-looking characters are different.
///
/// RFC 5321 §4.1.2, RFC 6531, RFC 5890
public struct EmailAddress: Sendable {
    /// The address as it was written.
    public let text: String
    /// The part before the @, as written.
    public let localPart: String
    /// The part after the @, as written.
    public let domain: String
    /// The domain in lower case, with A-labels.
    public let asciiDomain: String
    /// A key that is the same for equal addresses: the local part in lower case, @, and `asciiDomain`.
    package let key: String

    /// Reads `text`, which must contain an address and nothing else.
    ///
    /// - Throws: `MIMEError.malformedAddress`
    package init(_ text: String) throws(MIMEError) { try self.init(text, longestLocalPart: Self.longestLocalPart) }

    /// Reads `text`, an envelope address. Its local part may have up to 1,024 bytes: SRS and VERP write longer ones than RFC
    /// 5321 §4.5.3.1.1 permits. No account can have such an address, but rules and the certificate of a domain apply to it.
    ///
    /// - Throws: `MIMEError.malformedAddress`
    package init(envelope text: String) throws(MIMEError) { try self.init(text, longestLocalPart: 1_024) }

    /// The maximum length of a local part in bytes, except in an envelope address (RFC 5321 §4.5.3.1.1).
    private static let longestLocalPart = 64

    private init(_ text: String, longestLocalPart: Int) throws(MIMEError) {
        if let plain = Self(plain: text) {
            self = plain
            return
        }
        func malformed(_ reason: String) -> MIMEError { .malformedAddress(text, reason: reason) }
        guard text.utf8.count <= longestLocalPart + 256 else { throw malformed("too long for an address") }
        guard !text.unicodeScalars.contains(where: \.isUnsafeToDisplay) else {
            throw malformed("control or invisible characters in an address")
        }
        guard text.utf8.first != UInt8(ascii: "-") else { throw malformed("an address must not look like an option") }
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { throw malformed("no @ in the address") }
        localPart = String(text[..<at])
        domain = String(text[text.utf8.index(after: at)...])
        guard localPart.utf8.count <= longestLocalPart, let local = LocalPart(localPart) else {
            throw malformed("not a valid local part (RFC 5321)")
        }
        guard let ascii = DomainName.ascii(domain) else { throw malformed("not a domain name") }
        self.text = text
        asciiDomain = ascii
        key = "\(local.key)@\(ascii)"
    }

    /// Reads the most frequent form of an address in one pass: ASCII letters, digits and few other characters. Nil for any
    /// other text, which may still be an address.
    private init?(plain text: String) {
        var text = text
        let form = text.withUTF8 { bytes -> (at: Int, isFolded: Bool)? in
            guard bytes.count <= 255, let first = bytes.first, first != UInt8(ascii: "-") else { return nil }
            var (at, label, isFolded) = (Int?.none, 0, true)
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case UInt8(ascii: "@"):
                    guard at == nil, index > label, index <= 64 else { return nil }
                    (at, label) = (index, index + 1)
                case UInt8(ascii: "."):
                    guard index > label, at == nil || bytes[index - 1] != UInt8(ascii: "-") else { return nil }
                    label = index + 1
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): break
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): isFolded = false
                case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "="):
                    guard at == nil || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") && index > label else {
                        return nil
                    }
                default: return nil
                }
                guard at == nil || index - label < 63 else { return nil }
            }
            guard let at, bytes.count > label, bytes.last != UInt8(ascii: "-") else { return nil }
            return (at, isFolded)
        }
        guard let form else { return nil }
        let at = text.utf8.index(text.startIndex, offsetBy: form.at)
        (localPart, domain) = (String(text[..<at]), String(text[text.utf8.index(after: at)...]))
        asciiDomain = form.isFolded ? domain : domain.lowercased()
        key = form.isFolded ? text : text.lowercased()
        self.text = text
    }

    /// Whether the local part needs SMTPUTF8.
    public var isInternational: Bool { !localPart.utf8.allSatisfy { $0 < 128 } }
}

extension EmailAddress: Hashable {
    // Compares bytes, because Swift considers canonically equivalent strings equal.
    public static func == (one: Self, other: Self) -> Bool { one.key.utf8.elementsEqual(other.key.utf8) }

    public func hash(into hasher: inout Hasher) { hasher.combine(utf8Of: key) }
}

extension EmailAddress: CustomStringConvertible {
    public var description: String { text }
}

/// The part before the @: a dot-atom or a quoted string.
private struct LocalPart {
    /// A key that is the same for equal local parts.
    let key: String

    init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        var content = text
        if text.utf8.first == UInt8(ascii: "\"") {
            guard let unquoted = Self.unquoted(text) else { return nil }
            content = unquoted
        } else if !Self.isDotAtom(text) {
            return nil
        }
        let folded = content.foldedForMail
        key =
            Self.isDotAtom(content)
            ? folded : "\"\(folded.escapedForQuotes)\""
    }

    private static func isDotAtom(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.unicodeScalars.allSatisfy { $0.isAtomText }
        }
    }

    private static func unquoted(_ text: String) -> String? {
        var content = String.UnicodeScalarView()
        var scalars = text.unicodeScalars.dropFirst()
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\"": return scalars.isEmpty ? String(content) : nil
            case "\\":
                guard let escaped = scalars.popFirst(), escaped.isASCII else { return nil }
                content.append(escaped)
            default: content.append(scalar)
            }
        }
        return nil
    }
}

extension String {
    /// The text in lower case and in Normalization Form C. A non-ASCII character whose lower-case form has ASCII letters is
    /// not converted to lower case: the Kelvin sign does not become k.
    var foldedForMail: String {
        // Most addresses are ASCII and need no Unicode tables.
        guard !utf8.allSatisfy({ $0 < 128 }) else { return lowercased() }
        return unicodeScalars.map { scalar in
            scalar.isASCII || !scalar.properties.lowercaseMapping.unicodeScalars.contains(where: \.isASCII)
                ? scalar.properties.lowercaseMapping : String(scalar)
        }.joined().canonicallyComposed
    }
}

extension Unicode.Scalar {
    /// Whether the character is allowed in an atom: RFC 5322 atext, or a non-ASCII character (RFC 6531) that is neither white
    /// space nor canonically equivalent to ASCII text, as the Kelvin sign is.
    fileprivate var isAtomText: Bool {
        guard isASCII else {
            return !properties.isWhitespace
                && !String(self).canonicallyComposed.utf8.contains { $0 < 128 }
        }
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": return true
        default: return "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(self)
        }
    }
}

/// The part of an address after the @.
enum DomainName {
    /// `domain` in lower case with A-labels; nil if it is neither a domain name nor an address literal.
    ///
    /// Before the conversion to A-labels (IDNA 2008), the name is converted to lower case and Normalization Form C only: ß is
    /// kept, and a full-width character makes the name invalid.
    static func ascii(_ domain: String) -> String? {
        guard !domain.isEmpty, domain.utf8.count <= 255 else { return nil }
        if domain.hasPrefix("["), domain.hasSuffix("]") { return literal(domain) }
        let isASCII = domain.utf8.allSatisfy { $0 < 128 }
        guard let ascii = isASCII ? domain.lowercased() : IDNLibrary.ascii(domain.foldedForMail) else {
            return nil
        }
        let labels = ascii.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return ascii.utf8.count <= 255 && labels.allSatisfy(isLabel) ? ascii : nil
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return !label.isEmpty && label.count <= 63 && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { byte in
                byte == hyphen || byte == UInt8(ascii: "_") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            }
    }

    /// Reads an address literal: an IPv4 address, or a tag with a colon (RFC 5321 §4.1.3). A domain name in brackets is
    /// rejected, because some mail servers read it as the domain itself. Nothing else is checked.
    private static func literal(_ domain: String) -> String? {
        let content = domain.utf8.dropFirst().dropLast()
        let isText = content.allSatisfy { 33...126 ~= $0 && !"[]\\".utf8.contains($0) }
        let isAddress = content.contains(UInt8(ascii: ":")) || content.allSatisfy { "0123456789.".utf8.contains($0) }
        return isText && isAddress && !content.isEmpty ? domain.lowercased() : nil
    }
}
