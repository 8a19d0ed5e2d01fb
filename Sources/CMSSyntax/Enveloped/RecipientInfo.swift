import ByteStreams
import LibCrypto
package import PKIX
import SwiftASN1

/// A recipient of an encrypted message: who can decrypt it, and how the content key is protected.
///
/// A key-agreement RecipientInfo with several encrypted keys becomes one value for each of them.
///
/// RFC 5652 §6.2
package struct RecipientInfo: Sendable {
    /// The kinds of RecipientInfo.
    package enum Kind: String, Sendable {
        case keyAgreement = "key-agreement"
        case keyEncapsulation = "key-encapsulation"
        case keyEncryptionKey = "key-encryption-key"
        case keyTransport = "key-transport"
        case other
        case password
    }

    /// How the content-encryption key is wrapped.
    enum Wrapping: Sendable {
        case transport(RSAPadding)
        /// Wrapped under a key derived from a password (RFC 5652 §6.2.4).
        case password(KeyDerivation, PasswordKeyWrap)
        /// Wrapped under a shared key with this identifier (RFC 5652 §6.2.3).
        case secretKey(KeyWrap, identifier: [UInt8])
        case agreement(KeyAgreementScheme, KeyWrap, point: [UInt8], userKeyingMaterial: [UInt8]?)
        case encapsulation(KeyEncapsulation)
        /// A kind or algorithm that is not supported; the payload names it.
        case unsupported(String)
    }

    /// The kind of the RecipientInfo.
    package let kind: Kind
    /// The identifier of the recipient's certificate; nil for kinds without a certificate, or if it cannot be read.
    package let identifier: EntityIdentifier?
    /// The name of the key-encryption algorithm for users, or its dotted OID.
    package let algorithm: String
    let wrapping: Wrapping
    let encryptedKey: [UInt8]

    /// Whether the kind and the algorithm are supported.
    package var isSupported: Bool {
        if case .unsupported = wrapping { false } else { true }
    }

    /// The parameters of the key-encryption algorithm for users; nil if there are none or they are unknown.
    package var algorithmDetail: String? {
        switch wrapping {
        case .transport(.oaep(let digest, let mgf, _)): "\(digest.rawValue), mgf1 with \(mgf.rawValue)"
        case .agreement(let scheme, let wrap, _, _):
            "\(scheme.derivationName), \(wrap.identifier.algorithm.displayName)"
        case .encapsulation(let encapsulation): encapsulation.detail
        case .password(let derivation, let wrap): "\(derivation.name), \(wrap.cipher.name)"
        case .secretKey(_, let identifier): "key \(identifier.hexadecimal)"
        case .transport, .unsupported: nil
        }
    }

    /// Reads one element of RecipientInfos.
    static func read(_ node: ASN1Node) throws -> [RecipientInfo] {
        switch node.identifier {
        case .sequence: try reporting(.cms, in: "KeyTransRecipientInfo") { try [keyTransport(node)] }
        case .context(1): try reporting(.cms, in: "KeyAgreeRecipientInfo") { try keyAgreement(node) }
        case .context(2): [secretKey(node)]
        case .context(3): [password(node)]
        default: [other(node)]
        }
    }

    /// The name of the key-encryption algorithm of a KEKRecipientInfo or PasswordRecipientInfo: the field before the encrypted
    /// key.
    static func algorithmName(of node: ASN1Node) -> String? {
        guard let fields = try? node.children().suffix(2), fields.count == 2, let field = fields.first else {
            return nil
        }
        return (try? AlgorithmIdentifier(berEncoded: field))?.displayName
    }

    static func unsupported(_ kind: Kind, _ algorithm: String?, identifier: EntityIdentifier? = nil) -> Self {
        RecipientInfo(
            kind: kind,
            identifier: identifier,
            algorithm: algorithm ?? kind.rawValue,
            wrapping: .unsupported(
                identifier == nil
                    ? "a recipient of the kind \(kind.rawValue) with these parameters" : algorithm ?? kind.rawValue
            ),
            encryptedKey: []
        )
    }

    private static func keyTransport(_ node: ASN1Node) throws -> RecipientInfo {
        try BER.sequence(node, identifier: .sequence) { nodes in
            _ = try Int(berEncoded: &nodes)
            guard let identifier = nodes.next() else { throw CMSError.malformed(.cms, "KeyTransRecipientInfo") }
            let algorithm = try AlgorithmIdentifier(berEncoded: &nodes)
            let key = try ASN1OctetString(berEncoded: &nodes)
            let (name, wrapping) = transport(algorithm)
            return try RecipientInfo(
                kind: .keyTransport,
                identifier: EntityIdentifier(berEncoded: identifier),
                algorithm: name,
                wrapping: wrapping,
                encryptedKey: Array(key.bytes)
            )
        }
    }

    /// The algorithm's name, and how it wraps the key. Parameters that cannot be read make only this recipient unsupported.
    private static func transport(_ algorithm: AlgorithmIdentifier) -> (String, Wrapping) {
        switch algorithm.algorithm {
        case ASN1ObjectIdentifier.Key.rsa: return ("rsa-pkcs1", .transport(.pkcs1))
        case ASN1ObjectIdentifier.Key.rsaOAEP:
            do { return ("rsa-oaep", .transport(try OAEPParameters.read(algorithm.parameters))) } catch {
                guard case CMSError.unsupported(let what) = error else {
                    return ("rsa-oaep", .unsupported("rsa-oaep with malformed parameters"))
                }
                return ("rsa-oaep", .unsupported(what))
            }
        default: return (algorithm.displayName, .unsupported("key transport \(algorithm.displayName)"))
        }
    }

    private static func keyAgreement(_ node: ASN1Node) throws -> [RecipientInfo] {
        try BER.sequence(node, identifier: .context(1)) { nodes in
            _ = try Int(berEncoded: &nodes)
            let point = try BER.explicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try originatorPoint($0)
            }
            let material = try BER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) {
                Array(try ASN1OctetString(berEncoded: $0).bytes)
            }
            let algorithm = try AlgorithmIdentifier(berEncoded: &nodes)
            guard let keys = nodes.next() else { throw CMSError.malformed(.cms, "KeyAgreeRecipientInfo") }
            let wrapping = agreement(algorithm, point: point, userKeyingMaterial: material)
            return try keys.children(expecting: .sequence).map { try encryptedKey($0, algorithm, wrapping: wrapping) }
        }
    }

    /// The ephemeral public key in OriginatorPublicKey; nil if a certificate identifies the originator.
    private static func originatorPoint(_ node: ASN1Node) throws -> [UInt8]? {
        guard node.identifier == .context(1) else { return nil }
        return try BER.sequence(node, identifier: .context(1)) { nodes in
            _ = try AlgorithmIdentifier(berEncoded: &nodes)
            return Array(try ASN1BitString(berEncoded: &nodes).bytes)
        }
    }

    private static func agreement(
        _ algorithm: AlgorithmIdentifier,
        point: [UInt8]?,
        userKeyingMaterial: [UInt8]?
    ) -> Wrapping {
        guard let scheme = KeyAgreementScheme(oid: algorithm.algorithm) else {
            return .unsupported("key agreement \(algorithm.displayName)")
        }
        guard let point else { return .unsupported("key agreement with a static originator key") }
        guard let inner = algorithm.parameters, let identifier = try? AlgorithmIdentifier(berEncoded: inner),
            let wrap = try? KeyWrap(identifier)
        else { return .unsupported("key wrap of \(algorithm.displayName)") }
        return .agreement(scheme, wrap, point: point, userKeyingMaterial: userKeyingMaterial)
    }

    private static func encryptedKey(
        _ node: ASN1Node,
        _ algorithm: AlgorithmIdentifier,
        wrapping: Wrapping
    ) throws -> RecipientInfo {
        try BER.sequence(node, identifier: .sequence) { nodes in
            guard let identifier = nodes.next() else { throw CMSError.malformed(.cms, "RecipientEncryptedKey") }
            let key = try ASN1OctetString(berEncoded: &nodes)
            let isKnown = KeyAgreementScheme(oid: algorithm.algorithm) != nil
            return try RecipientInfo(
                kind: .keyAgreement,
                identifier: recipient(identifier),
                algorithm: isKnown ? "ecdh" : algorithm.displayName,
                wrapping: wrapping,
                encryptedKey: Array(key.bytes)
            )
        }
    }

    /// `KeyAgreeRecipientIdentifier`, in which a key identifier is inside a SEQUENCE. A date and an OtherKeyAttribute may
    /// follow it. They distinguish keys that have the same identifier. The keys of certificates do not need this, so both are
    /// ignored.
    ///
    /// RFC 5652 §6.2.2
    private static func recipient(_ node: ASN1Node) throws -> EntityIdentifier {
        guard node.identifier == .context(0) else { return try EntityIdentifier(berEncoded: node) }
        var fields = try ElementReader(node, .context(0))
        let identifier = try fields.next(.octetString).octets()
        _ = fields.optional(.generalizedTime)
        _ = fields.optional(.sequence)
        guard fields.remaining.isEmpty else { throw CMSError.malformed(.cms, "RecipientKeyIdentifier") }
        return .subjectKeyIdentifier(identifier)
    }
}

/// OtherRecipientInfo, of which only the type KEMRecipientInfo is supported. A RecipientInfo that cannot be parsed is
/// reported as unsupported.
extension RecipientInfo {
    /// Reads OtherRecipientInfo (RFC 5652 §6.2.5).
    static func other(_ node: ASN1Node) -> RecipientInfo {
        guard node.identifier == .context(4), let parts = try? node.children(), parts.count == 2,
            let type = try? parts[0].objectIdentifier()
        else { return unsupported(.other, nil) }
        guard type == KeyEncapsulation.type else { return unsupported(.other, type.displayName) }
        return (try? encapsulation(parts[1]))
            ?? unsupported(
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
