package import PKIX
import SwiftASN1

/// The preferences that a signer announces for mail addressed to the signer.
extension SignerInfo {
    /// The DER of the announced SMIMECapabilities; nil unless the attribute occurs exactly once and can be parsed.
    ///
    /// RFC 8551 §2.5.2
    package var capabilitiesEncoding: [UInt8]? {
        guard let value = signedValue(ASN1ObjectIdentifier.CMSAttribute.smimeCapabilities), value.count <= 4096,
            (try? SMIMECapability.list(value)) != nil
        else { return nil }
        return value
    }

    /// The name of the certificate that others should use to encrypt mail to the signer; nil unless the signer states it
    /// exactly once.
    ///
    /// SMIMEEncryptionKeyPreference of RFC 8551 §2.5.3
    package var encryptionKeyPreference: EntityIdentifier? {
        guard let value = signedValue(ASN1ObjectIdentifier.CMSAttribute.encryptionKeyPreference) else { return nil }
        return try? EntityIdentifier(encryptionKeyPreference: ASN1Node.read(value))
    }
}

extension EntityIdentifier {
    /// The DER of an SMIMEEncryptionKeyPreference that names this certificate.
    func encryptionKeyPreference() -> [UInt8] {
        der { coder in
            switch self {
            case .issuerAndSerial(let issuer, let serialNumber):
                coder.appendConstructedNode(identifier: .context(0)) { coder in
                    coder.serializeRawBytes(issuer)
                    coder.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: serialNumber) }
                }
            case .subjectKeyIdentifier(let identifier):
                coder.appendPrimitiveNode(identifier: .context(2)) { $0.append(contentsOf: identifier) }
            }
        }
    }

    /// Reads one of the three alternatives: issuer and serial number, RecipientKeyIdentifier, or key identifier.
    fileprivate init(encryptionKeyPreference node: ASN1Node) throws {
        switch node.identifier {
        case .context(0):
            self = try BER.sequence(node, identifier: .context(0)) { nodes in
                try EntityIdentifier(issuer: nodes.next(), serialNumber: nodes.next())
            }
        case .context(1):
            // A date and another identifier may follow, which do not help to identify the certificate.
            guard let identifier = try node.children(expecting: .context(1)).first(where: { _ in true }) else {
                throw CMSError.malformed(.cms, "RecipientKeyIdentifier")
            }
            self = .subjectKeyIdentifier(Array(try ASN1OctetString(berEncoded: identifier).bytes))
        default:
            let octets = try ASN1OctetString(berEncoded: node, withIdentifier: .context(2))
            self = .subjectKeyIdentifier(Array(octets.bytes))
        }
    }
}
