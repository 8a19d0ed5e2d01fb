import Synchronization

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

    /// The form of one relative name; the order and repetition of its attributes do not matter.
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
