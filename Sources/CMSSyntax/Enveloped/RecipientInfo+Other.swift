import PKIX
import SwiftASN1

/// OtherRecipientInfo, of which only the type KEMRecipientInfo is supported. A RecipientInfo that cannot be parsed is
/// reported as unsupported.
extension RecipientInfo {
    /// Reads OtherRecipientInfo (RFC 5652 §6.2.5).
    static func other(_ node: ASN1Node) -> RecipientInfo {
        guard node.identifier == .context(4), let parts = try? node.children(), parts.count == 2,
            let type = try? parts[0].objectIdentifier()
        else { return named(.other, nil) }
        guard type == KeyEncapsulation.type else { return named(.other, type.displayName) }
        return (try? encapsulation(parts[1]))
            ?? named(
                .keyEncapsulation,
                "key-encapsulation with malformed parameters",
                identifier: identifier(of: parts[1])
            )
    }

    /// The recipient's identifier; nil if it cannot be read.
    private static func identifier(of node: ASN1Node) -> EntityIdentifier? {
        guard var fields = try? ElementReader(node), (try? fields.next(.integer)) != nil, let next = try? fields.next()
        else { return nil }
        return try? EntityIdentifier(berEncoded: next)
    }

    /// Reads KEMRecipientInfo (RFC 9629 §3).
    private static func encapsulation(_ node: ASN1Node) throws -> RecipientInfo {
        var fields = try ElementReader(node)
        _ = try fields.next(.integer)
        let identifier = try EntityIdentifier(berEncoded: fields.next())
        var ahead = fields
        let mechanism = try AlgorithmIdentifier(berEncoded: ahead.next(.sequence))
        let (wrapping, key) = try wrapping(&fields)
        return RecipientInfo(
            kind: .keyEncapsulation,
            identifier: identifier,
            algorithm: mechanism.displayName,
            wrapping: wrapping,
            encryptedKey: key
        )
    }

    private static func wrapping(_ fields: inout ElementReader) throws -> (Wrapping, key: [UInt8]) {
        do {
            let encapsulation = try KeyEncapsulation(&fields)
            return (.encapsulation(encapsulation), try fields.next(.octetString).octets())
        } catch CMSError.unsupported(let what) { return (.unsupported(what), []) }
    }
}
