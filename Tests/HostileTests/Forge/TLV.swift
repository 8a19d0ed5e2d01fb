import Foundation

/// Writes BER by hand, valid or not, and takes it apart.
enum TLV {
    static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] { element(tag, parts.flatMap { $0 }) }

    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        guard contents.count > 127 else { return [tag, UInt8(contents.count)] + contents }
        let length = withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }

    /// An element of indefinite length.
    static func indefinite(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, 0x80] + contents + [0, 0] }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
    static func set(_ parts: [[UInt8]]) -> [UInt8] { element(0x31, parts.flatMap { $0 }) }
    /// A SET, sorted as in DER.
    static func sortedSet(_ parts: [[UInt8]], tag: UInt8 = 0x31) -> [UInt8] {
        element(tag, parts.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 })
    }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    static func bits(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }
    static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func ia5(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
    static func explicit(_ number: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        element(0xA0 | number, parts.flatMap { $0 })
    }
    static let null: [UInt8] = [5, 0]
    static let yes: [UInt8] = [1, 1, 0xFF]

    static func integer(_ value: Int) -> [UInt8] {
        let octets = withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
        return element(0x02, (octets.first ?? 0x80) < 0x80 ? octets : [0] + octets)
    }

    static func oid(_ dotted: String) -> [UInt8] {
        let arcs = dotted.split(separator: ".").compactMap { UInt64($0) }
        let first = arcs[0] * 40 + arcs[1]
        return element(0x06, ([first] + arcs.dropFirst(2)).flatMap { base128($0) })
    }

    private static func base128(_ value: UInt64) -> [UInt8] {
        var (rest, bytes) = (value >> 7, [UInt8(value & 0x7F)])
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }

    /// `20260101000000Z` as a GeneralizedTime, `260101000000Z` as a UTCTime.
    static func time(_ digits: String) -> [UInt8] { element(digits.count == 15 ? 0x18 : 0x17, Array(digits.utf8)) }

    /// The contents of a definite-length element.
    static func contents(_ element: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(element)
        let extra = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        return Array(bytes.dropFirst(2 + extra))
    }

    /// The complete elements inside an element; all lengths must be definite.
    static func children(_ parent: some Collection<UInt8>) -> [[UInt8]] {
        var (rest, found) = (contents(parent)[...], [[UInt8]]())
        while rest.count > 1 {
            let bytes = Array(rest.prefix(10))
            let extra = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
            let length = extra == 0 ? Int(bytes[1]) : bytes[2..<2 + extra].reduce(0) { $0 << 8 | Int($1) }
            found.append(Array(rest.prefix(2 + extra + length)))
            rest = rest.dropFirst(2 + extra + length)
        }
        return found
    }

    /// `element` after `change` has modified its children.
    static func rebuild(_ element: [UInt8], _ change: (inout [[UInt8]]) throws -> Void) rethrows -> [UInt8] {
        var parts = children(element)
        try change(&parts)
        return TLV.element(element[0], parts.flatMap { $0 })
    }
}

/// Object identifiers used in the forgeries.
enum OID {
    static let data = "1.2.840.113549.1.7.1"
    static let signedData = "1.2.840.113549.1.7.2"
    static let envelopedData = "1.2.840.113549.1.7.3"
    static let authEnvelopedData = "1.2.840.113549.1.9.16.1.23"
    static let compressedData = "1.2.840.113549.1.9.16.1.9"
    static let contentType = "1.2.840.113549.1.9.3"
    static let messageDigest = "1.2.840.113549.1.9.4"
    static let signingTime = "1.2.840.113549.1.9.5"
    static let smimeCapabilities = "1.2.840.113549.1.9.15"
    static let signingCertificateV2 = "1.2.840.113549.1.9.16.2.47"
    static let encryptionKeyPreference = "1.2.840.113549.1.9.16.2.11"
    static let rsa = "1.2.840.113549.1.1.1"
    static let rsaOAEP = "1.2.840.113549.1.1.7"
    static let rsaPSS = "1.2.840.113549.1.1.10"
    static let sha256WithRSA = "1.2.840.113549.1.1.11"
    static let aes128CBC = "2.16.840.1.101.3.4.1.2"
    static let aes256CBC = "2.16.840.1.101.3.4.1.42"
    static let aes128GCM = "2.16.840.1.101.3.4.1.6"
    static let aes256GCM = "2.16.840.1.101.3.4.1.46"
    static let emailProtection = "1.3.6.1.5.5.7.3.4"
    static let smtpUTF8Mailbox = "1.3.6.1.5.5.7.8.9"
    static let digests = [
        "MD5": "1.2.840.113549.2.5", "SHA1": "1.3.14.3.2.26", "SHA256": "2.16.840.1.101.3.4.2.1",
        "SHA384": "2.16.840.1.101.3.4.2.2", "SHA512": "2.16.840.1.101.3.4.2.3",
    ]

    static func digest(_ name: String) -> [UInt8] { TLV.sequence(TLV.oid(digests[name] ?? name)) }
}
