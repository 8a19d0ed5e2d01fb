import CMSSyntax
import Foundation
import PKIX
import SMIME

/// An inspection as JSON. `layers` are in the order in which they are found; `parts` refer to layers by index.
struct InspectionOutput: Encodable {
    let file: String
    let kind: String
    /// The layers; only for messages and CMS objects.
    var layers: [LayerOutput]?
    var parts: [PartOutput]?
    /// The certificates; only for files of keys and certificates, and for PKCS#12 only if opened with its passphrase.
    var certificates: [CertificateOutput]?
    var crls: [CertificateListOutput]?
    var privateKeys: [PrivateKeyOutput]?
    /// The parts of a PKCS#12 file; only for PKCS#12. `mac` is omitted if the file has no MAC, and for other files.
    var safes: [SafeOutput]?
    var mac: String?
    let problems: [ProblemReport]

    /// - Parameters:
    ///   - names: the owners, from the store, of certificates that the file refers to.
    ///   - time: the time at which validity is judged.
    init(
        _ inspection: Inspection,
        opened: OpenedPKCS12?,
        file: String,
        names: [EntityIdentifier: String],
        at time: Date
    ) {
        let context = InspectionContext(names: names, time: time)
        self.file = file
        kind = inspection.kind
        problems = inspection.problems.map(ProblemReport.init)
        var layers: [LayerOutput] = []
        switch inspection.subject {
        case .certificates(let items):
            certificates = items.certificates.map { CertificateOutput($0, at: time) }
            crls = items.certificateLists.map { CertificateListOutput($0, at: time) }
            privateKeys = items.privateKeys.map { PrivateKeyOutput(encrypted: $0.isEncrypted) }
        case .cms(let layer):
            parts = PartOutput.content(of: layer, into: &layers, context)
            self.layers = layers
        case .message(let part):
            parts = [PartOutput(part, into: &layers, context)]
            self.layers = layers
        case .pkcs12(let outline):
            mac = outline.mac
            safes = outline.parts.map(SafeOutput.init)
            certificates = opened.map { opened in
                opened.own.map { CertificateOutput($0, at: time, hasKey: true) }
                    + opened.others.map { CertificateOutput($0, at: time, hasKey: false) }
            }
        }
    }
}

/// What the store and the caller add to an inspection.
struct InspectionContext {
    /// The owners, from the store, of certificates that the file refers to.
    let names: [EntityIdentifier: String]
    /// The time at which validity is judged.
    let time: Date
}

/// A MIME entity.
struct PartOutput: Encodable {
    let contentType: String
    let parameters: [String: String]
    let encoding: String
    let filename: String?
    let size: Int
    /// The index of this part's CMS object among the layers.
    let layer: Int?
    let parts: [PartOutput]
    let problems: [ProblemReport]

    init(_ part: Inspection.Part, into layers: inout [LayerOutput], _ context: InspectionContext) {
        contentType = part.mediaType
        parameters = part.parameters
        encoding = part.transferEncoding
        filename = part.filename
        size = part.count
        problems = part.problems.map(ProblemReport.init)
        layer = part.layer.map { _ in layers.count }
        let inside = part.layer.map { Self.content(of: $0, into: &layers, context) } ?? []
        var outputs: [PartOutput] = []
        for inner in part.parts { outputs.append(PartOutput(inner, into: &layers, context)) }
        parts = inside + outputs
    }

    /// Adds `layer` and all layers inside it to `layers`. Returns the part inside the innermost of the directly nested
    /// layers; empty if there is none.
    static func content(
        of layer: Inspection.Layer,
        into layers: inout [LayerOutput],
        _ context: InspectionContext
    ) -> [PartOutput] {
        layers.append(LayerOutput(layer, context))
        switch layer.content {
        case nil: return []
        case .layer(let inner): return content(of: inner, into: &layers, context)
        case .part(let part): return [PartOutput(part, into: &layers, context)]
        }
    }
}

/// A CMS object: the keys that `verify` uses for layers, and the certificates and lists in the object.
struct LayerOutput: Encodable {
    let type: String
    let algorithm: String
    let problems: [ProblemReport]
    let cmsType: String
    let contentType: String?
    /// The length of the content in the object; absent if the object has no content.
    let size: Int?
    let digests: [String]
    let signers: [InspectedSignerOutput]
    let recipients: [InspectedRecipientOutput]
    let certificates: [CertificateOutput]
    let crls: [CertificateListOutput]
    let authenticatedAttributes: [String]
    let unprotectedAttributes: [String]

    init(_ layer: Inspection.Layer, _ context: InspectionContext) {
        let outline = layer.outline
        type = outline.layerType
        algorithm = outline.layerAlgorithm
        problems = layer.problems.map(ProblemReport.init)
        cmsType = outline.typeName
        contentType = outline.contentType
        size = outline.contentCount
        digests = outline.type == .signedData ? outline.algorithms : []
        signers = outline.signers.map { InspectedSignerOutput($0, outline.certificates, names: context.names) }
        recipients = outline.recipients.map { InspectedRecipientOutput($0, context.names) }
        certificates = outline.certificates.map { CertificateOutput($0, at: context.time) }
        crls = outline.certificateLists.map { CertificateListOutput($0, at: context.time) }
        authenticatedAttributes = outline.authenticatedAttributes
        unprotectedAttributes = outline.unprotectedAttributes
    }
}

/// A signer's claims. `fingerprint`, `subject` and `addresses` are those of the included certificate that the signer names.
struct InspectedSignerOutput: Encodable {
    let issuer, serial, keyIdentifier: String?
    let fingerprint: Fingerprint?
    let subject: String?
    /// The owner, from the store, of the certificate that the signer names; nil if the store does not know it.
    let name: String?
    let addresses: [String]
    let digest: String
    let signature: String
    let signingTime: Date?
    let signedAttributes: [String]
    let unsignedAttributes: [String]
    let capabilities: [String]

    init(_ signer: SignerInfo, _ certificates: [Certificate], names: [EntityIdentifier: String]) {
        name = names[signer.identifier]
        (issuer, serial, keyIdentifier) = signer.identifier.pieces
        let certificate = signer.identifier.matching(certificates).first
        fingerprint = certificate?.fingerprint
        subject = certificate?.subject.description
        addresses = certificate?.reportedAddresses ?? []
        digest = signer.digestName
        signature = signer.signatureName
        signingTime = signer.signingTime
        signedAttributes = signer.signedAttributeTypes
        unsignedAttributes = signer.unsignedAttributeTypes
        capabilities = SMIMECapability.names(of: signer.capabilities)
    }
}

/// A recipient of an encrypted object.
struct InspectedRecipientOutput: Encodable {
    let kind: String
    let issuer, serial, keyIdentifier: String?
    /// The owner, from the store, of the recipient's certificate; nil if the store does not know it.
    let name: String?
    let algorithm: String
    let parameters: String?

    init(_ recipient: RecipientInfo, _ names: [EntityIdentifier: String]) {
        name = recipient.identifier.flatMap { names[$0] }
        kind = recipient.kind.rawValue
        (issuer, serial, keyIdentifier) = recipient.identifier?.pieces ?? (nil, nil, nil)
        algorithm = recipient.algorithm
        parameters = recipient.algorithmDetail
    }
}

extension EntityIdentifier {
    /// The values of the JSON keys: issuer and serial number, or key identifier.
    fileprivate var pieces: (issuer: String?, serial: String?, keyIdentifier: String?) {
        switch self {
        case .issuerAndSerial: (issuerName?.description, hexadecimal, nil)
        case .subjectKeyIdentifier: (nil, nil, hexadecimal)
        }
    }
}
