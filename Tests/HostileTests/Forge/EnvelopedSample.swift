import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import TestSupport

/// Messages made by our own writer, to be modified.
enum EnvelopedSample {
    /// The usual text to carol, encrypted with key agreement on P-256.
    static func carol() throws -> [UInt8] {
        let certificate = try Certificate(der: Person.carol.get().certificate)
        let writer = try EnvelopedDataWriter(
            to: [Recipient(unchecked: certificate)],
            cipher: .aes256GCM,
            contentCount: MailForge.text.count
        )
        let sink = MemorySink()
        try writer.write(to: sink) { try $0.write(MailForge.text) }
        return sink.bytes
    }

    /// A KeyAgreeRecipientInfo named by `identifier`, whose recipient cannot open the message.
    static func stranger(_ identifier: [UInt8]) -> [UInt8] {
        let point = TLV.bits([4] + [UInt8](repeating: 7, count: 64))
        return TLV.element(
            0xA1,
            TLV.integer(3),
            TLV.explicit(0, TLV.element(0xA1, TLV.sequence(TLV.oid("1.2.840.10045.2.1")), point)),
            TLV.sequence(TLV.oid("1.3.132.1.11.1"), TLV.sequence(TLV.oid("2.16.840.1.101.3.4.1.5"))),
            TLV.sequence(TLV.sequence(identifier, TLV.octets([UInt8](repeating: 7, count: 24))))
        )
    }

    /// RecipientKeyIdentifier with a date, another attribute, or both.
    static func keyIdentifier(_ octets: [UInt8], date: Bool = false, other: Bool = false) -> [UInt8] {
        TLV.element(
            0xA0,
            TLV.octets(octets),
            date ? TLV.time("20260101000000Z") : [],
            other ? TLV.sequence(TLV.oid("1.2.3.4"), TLV.null) : []
        )
    }

    /// `message` with its single recipient changed.
    static func rebuildRecipient(in message: [UInt8], _ change: (inout [[UInt8]]) -> Void) -> [UInt8] {
        TLV.rebuild(message) { info in
            info[1] = TLV.rebuild(info[1]) { explicit in
                explicit[0] = TLV.rebuild(explicit[0]) { enveloped in
                    enveloped[1] = TLV.rebuild(enveloped[1]) { recipients in
                        recipients[0] = TLV.rebuild(recipients[0], change)
                    }
                }
            }
        }
    }
}

/// Manipulations of a KeyAgreeRecipientInfo.
enum KeyAgreementTampering: String, CaseIterable {
    case pointOffCurve = "point-off-curve"
    case pointAtInfinity = "point-at-infinity"
    case pointEmpty = "point-empty"
    case pointOfOtherCurve = "point-of-other-curve"
    case wrapDamaged = "wrap-damaged"
    case wrapShort = "wrap-short"
    case wrapEmpty = "wrap-empty"
    case wrapOfOtherLength = "wrap-algorithm-of-other-length"
    case wrapUnknown = "wrap-algorithm-unknown"
    case wrapMissing = "wrap-algorithm-missing"
    case wrapParameters = "wrap-algorithm-with-parameters"
    case keyingMaterialAdded = "keying-material-added"
    case kdfOther = "kdf-other"

    /// `message` with its single recipient modified.
    func apply(to message: [UInt8]) throws -> [UInt8] {
        EnvelopedSample.rebuildRecipient(in: message) { change(&$0) }
    }

    /// The parts are version, [0] originator, algorithm and keys.
    private func change(_ parts: inout [[UInt8]]) {
        switch self {
        case .pointOffCurve: point(&parts) { $0.dropLast() + [($0.last ?? 0) ^ 1] }
        case .pointAtInfinity: point(&parts) { _ in [0] }
        case .pointEmpty: point(&parts) { _ in [] }
        case .pointOfOtherCurve: point(&parts) { _ in [4] + [UInt8](repeating: 7, count: 96) }
        case .wrapDamaged: key(&parts) { $0.dropLast() + [($0.last ?? 0) ^ 1] }
        case .wrapShort: key(&parts) { Array($0.prefix(8)) }
        case .wrapEmpty: key(&parts) { _ in [] }
        case .wrapOfOtherLength: wrap(&parts, TLV.sequence(TLV.oid("2.16.840.1.101.3.4.1.5")))
        case .wrapUnknown: wrap(&parts, TLV.sequence(TLV.oid("1.2.3.4.5")))
        case .wrapMissing: wrap(&parts, [])
        case .wrapParameters: wrap(&parts, TLV.sequence(TLV.oid("2.16.840.1.101.3.4.1.45"), TLV.octets([1, 2, 3, 4])))
        case .keyingMaterialAdded: parts.insert(TLV.explicit(1, TLV.octets([1, 2, 3, 4])), at: 2)
        case .kdfOther: parts[2] = TLV.rebuild(parts[2]) { $0[0] = TLV.oid("1.3.132.1.11.3") }
        }
    }

    private func point(_ parts: inout [[UInt8]], _ change: ([UInt8]) -> [UInt8]) {
        parts[1] = TLV.rebuild(parts[1]) { originator in
            originator[0] = TLV.rebuild(originator[0]) {
                $0[1] = TLV.bits(change(Array(TLV.contents($0[1]).dropFirst())))
            }
        }
    }

    private func key(_ parts: inout [[UInt8]], _ change: ([UInt8]) -> [UInt8]) {
        parts[3] = TLV.rebuild(parts[3]) { keys in
            keys[0] = TLV.rebuild(keys[0]) { $0[1] = TLV.octets(change(TLV.contents($0[1]))) }
        }
    }

    private func wrap(_ parts: inout [[UInt8]], _ algorithm: [UInt8]) {
        parts[2] = TLV.rebuild(parts[2]) { $0[1] = algorithm }
    }
}
