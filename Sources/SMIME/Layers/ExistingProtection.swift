package import ByteStreams
import CMSSyntax
package import InternetMessage
package import PKIX

/// How the original message is already protected.
package enum ExistingProtection: Hashable, Sendable {
    case encrypted
    case signed
    case unprotected
}

/// The outermost layer of an already protected message, and the recipients who can open it.
///
/// A message is treated as protected only if its body, or the signature of a multipart/signed, is a single CMS object
/// without defects, whatever the header claims. It is treated as encrypted only if all of this holds:
/// - The cipher is known, and its parameters are valid.
/// - The tag has the length that the cipher requires, or the content consists of whole blocks.
/// - At least one recipient is of a known kind.
/// - The content is not plaintext.
///
/// Neither signatures nor certificates are judged.
package struct ExistingLayer: Sendable {
    /// The kind of the layer.
    package let protection: ExistingProtection
    /// The certificates for which an encrypted layer has a RecipientInfo; empty for other layers.
    package let recipients: Set<EntityIdentifier>
    /// Whether an encrypted layer has a cipher that smime reads but does not write, such as 3DES or RC2.
    package let hasHistoricCipher: Bool

    /// A layer with the protection `protection` for `recipients`; by default no layer.
    package init(
        _ protection: ExistingProtection = .unprotected,
        recipients: Set<EntityIdentifier> = [],
        hasHistoricCipher: Bool = false
    ) {
        self.protection = protection
        self.recipients = recipients
        self.hasHistoricCipher = hasHistoricCipher
    }

    /// Reads the outermost layer of `message`.
    ///
    /// - Throws: errors of reading.
    package init(of message: Entity, in source: any ByteSource) throws {
        switch message.protection {
        case .cms: self = try Self.layer(of: message, in: source)
        case .multipartSigned(_, let signature):
            self.init(try Self.layer(of: signature, in: source).protection == .signed ? .signed : .unprotected)
        case .malformed, nil: self.init()
        }
    }

    /// Whether the layer is encrypted for `certificate`: a RecipientInfo names it by issuer and serial number, or by its key
    /// identifier.
    package func isEncrypted(for certificate: Certificate) -> Bool {
        let byKey = certificate.subjectKeyIdentifier.map(EntityIdentifier.subjectKeyIdentifier)
        let byName = EntityIdentifier.issuerAndSerial(
            issuer: certificate.issuer.der,
            serialNumber: certificate.serialNumber
        )
        return recipients.contains(byName) || byKey.map(recipients.contains) ?? false
    }

    private static func layer(of entity: Entity, in source: any ByteSource) throws -> ExistingLayer {
        let content = PlaintextDetector()
        let outline: CMSOutline
        do { outline = try CMSOutline(reading: entity.decodedBody(of: source), content: content) } catch {
            switch error {
            case is CMSError, StreamError.malformedBase64: return ExistingLayer()
            default: throw error
            }
        }
        guard outline.isSound else { return ExistingLayer() }
        if outline.type == .signedData { return ExistingLayer(outline.signers.isEmpty ? .unprotected : .signed) }
        // An attacker could declare plaintext to be encrypted, or name a recipient that does not exist.
        guard outline.isWellFormedCiphertext, outline.recipients.contains(where: { $0.kind != .other }),
            !content.isPlaintext
        else { return ExistingLayer() }
        return ExistingLayer(
            .encrypted,
            recipients: Set(outline.recipients.compactMap(\.identifier)),
            hasHistoricCipher: outline.hasHistoricCipher
        )
    }
}
