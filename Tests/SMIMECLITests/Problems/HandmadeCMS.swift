import Foundation

/// DER elements assembled by hand, also into objects that no program writes.
enum DER {
    static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let contents = parts.flatMap { $0 }
        guard contents.count > 127 else { return [tag, UInt8(contents.count)] + contents }
        let length = withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }

    static func set(_ parts: [UInt8]...) -> [UInt8] { element(0x31, parts.flatMap { $0 }) }

    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }

    /// The elements inside an element of definite length.
    static func children(of element: [UInt8]) throws -> [[UInt8]] {
        var rest = try contents(element[...]).contents
        var found: [[UInt8]] = []
        while !rest.isEmpty {
            let (_, end) = try contents(rest)
            found.append(Array(rest[rest.startIndex..<end]))
            rest = rest[end...]
        }
        return found
    }

    private static func contents(_ bytes: ArraySlice<UInt8>) throws -> (contents: ArraySlice<UInt8>, end: Int) {
        let start = bytes.startIndex
        guard bytes.count >= 2 else { throw CocoaError(.fileReadCorruptFile) }
        let count = bytes[start + 1] < 0x80 ? 0 : Int(bytes[start + 1] & 0x7F)
        let length =
            count == 0
            ? Int(bytes[start + 1]) : bytes[(start + 2)..<(start + 2 + count)].reduce(0) { $0 << 8 | Int($1) }
        let first = start + 2 + count
        return (bytes[first..<first + length], first + length)
    }

    /// The OID `1.2.840.113549` followed by `rest`; each number must be below 128.
    static func rsadsi(_ rest: UInt8...) -> [UInt8] { element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D] + rest) }

    static let data = rsadsi(1, 7, 1)
    static let sha256 = sequence(element(0x06, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]))
    static let sha1 = sequence(element(0x06, [0x2B, 14, 3, 2, 26]))
    static let md5 = sequence(rsadsi(2, 5))
    static let rsaWithSHA256 = sequence(rsadsi(1, 1, 11), [5, 0])
    static let rsa = sequence(rsadsi(1, 1, 1), [5, 0])
}

/// A SignedData in which every field can be chosen; its signature is not valid.
struct HandmadeSignedData {
    var digests = [DER.sha256]
    var contentType = DER.data
    /// The element in [0]; nil for detached content.
    var content: [UInt8]? = DER.octets(Array("Content-Type: text/plain\r\n\r\nhello\r\n".utf8))
    var certificates: [[UInt8]] = []
    var lists: [[UInt8]] = []
    var digest = DER.sha256
    var algorithm = DER.rsa
    /// The signed attributes; nil for none.
    var attributes: [[UInt8]]?
    var unsigned: [[UInt8]] = []

    static func attribute(_ number: UInt8, _ values: [UInt8]...) -> [UInt8] {
        DER.sequence(DER.rsadsi(1, 9, number), DER.element(0x31, values.flatMap { $0 }))
    }

    /// contentType and messageDigest with an arbitrary digest.
    static let usual = [attribute(3, DER.data), attribute(4, DER.octets([UInt8](repeating: 7, count: 32)))]

    var signerInfo: [UInt8] {
        let signed = attributes.map { DER.element(0xA0, $0.flatMap { $0 }) } ?? []
        let others = unsigned.isEmpty ? [] : DER.element(0xA1, unsigned.flatMap { $0 })
        let name = DER.element(0x80, [1, 2, 3])
        return DER.sequence([2, 1, 3], name, digest, signed, algorithm, DER.octets([9, 9]), others)
    }

    func bytes(signers: Int = 1) -> [UInt8] {
        let certificates = certificates.isEmpty ? [] : DER.element(0xA0, certificates.flatMap { $0 })
        let lists = lists.isEmpty ? [] : DER.element(0xA1, lists.flatMap { $0 })
        let encapsulated = DER.sequence(contentType, content.map { DER.element(0xA0, $0) } ?? [])
        let infos = DER.element(0x31, Array(repeatElement(signerInfo, count: signers).joined()))
        let body = DER.sequence(
            [2, 1, 3],
            DER.element(0x31, digests.flatMap { $0 }),
            encapsulated,
            certificates,
            lists,
            infos
        )
        return DER.sequence(DER.rsadsi(1, 7, 2), DER.element(0xA0, body))
    }
}
