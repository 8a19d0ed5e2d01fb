import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One layer of protection, whose structure was read as far as possible without keys.
enum Layer {
    case compressed(CompressedLayer)
    case encrypted(EncryptedLayer)
    case signed(SignedLayer)

    /// The entry for this layer in the report.
    var reported: VerificationReport.Layer {
        switch self {
        case .compressed: CompressedLayer.layer
        case .encrypted(let layer): layer.layer
        case .signed(let layer): layer.layer
        }
    }

    /// Reads a CMS object whose smime-type is `declared`.
    init(
        cms stream: ByteStream,
        declared: String?,
        padding: PaddingWatch? = nil,
        content: EncryptedLayer.Content
    ) throws {
        let type = try CMSContentType(of: stream)
        if let why = Self.contradiction(of: type, to: declared) { throw MessageError.malformed(why) }
        switch type {
        case .signedData:
            self = .signed(
                try SignedLayer(
                    cms: stream,
                    declared: declared,
                    padding: padding,
                    mustBeEntity: content != .anything
                )
            )
        case .envelopedData, .authEnvelopedData:
            self = .encrypted(
                try EncryptedLayer(
                    cms: stream,
                    padding: padding,
                    content: content,
                    defects: Self.weakerTypeWarnings(of: type, declared)
                )
            )
        case .compressedData: self = .compressed(try CompressedLayer(cms: stream))
        default: throw MessageError.malformed("a CMS object of a type that S/MIME does not use")
        }
    }

    /// The reason why a CMS object of type `type` contradicts its smime-type; nil if it does not.
    static func contradiction(of type: CMSContentType, to declared: String?) -> String? {
        guard let declared, let expected = types[declared], !expected.contains(type) else { return nil }
        return "smime-type says \(declared.escapedForDisplay), but the content is something else"
    }

    /// The warning for an smime-type that names less protection than the object has. Senders of AuthEnvelopedData often write
    /// the older name.
    static func weakerTypeWarnings(of type: CMSContentType, _ declared: String?) -> [Problem] {
        guard type == .authEnvelopedData, declared == "enveloped-data" else { return [] }
        return [Problem(.smimeTypeUnderstated, "smime-type says enveloped-data, but the object is AuthEnvelopedData")]
    }

    /// The content types that each smime-type allows (RFC 8551 §3.2.2). An smime-type that promises authentication allows no
    /// other type.
    private static let types: [String: [CMSContentType]] = [
        "signed-data": [.signedData], "certs-only": [.signedData], "signed-receipt": [.signedData],
        "enveloped-data": [.envelopedData, .authEnvelopedData],
        "authenveloped-data": [.authEnvelopedData],
        "compressed-data": [.compressedData],
    ]
}

/// A compressed entity whose structure was read up to the content.
///
/// RFC 8551 §3.6
struct CompressedLayer: Sendable {
    private let data: CompressedData

    init(cms stream: ByteStream) throws { data = try CompressedData(reading: stream) }

    /// The entry for this layer in the report.
    static let layer = VerificationReport.Layer(kind: .compressed, algorithm: "zlib", problems: [])

    /// The decompressed content, stored in a temporary file.
    func content() throws -> LocatedEntity {
        let spool = Spool()
        try data.content.makeReader().copy(to: spool)
        let source = try spool.finish()
        return try LocatedEntity(reading: source)
    }
}

/// The part of the verdict that depends on the signer's certificate alone. It is the same for all signatures of a layer by
/// that certificate.
struct CertificateJudgement {
    /// What the names in the certificate say about the sender; nil if there is nothing to say.
    let finding: SignerIdentity.Finding?
    /// The verdict on the certificate's chain.
    let verdict: ChainVerdict
    /// The first address in From that the certificate names; nil if there is none.
    let author: EmailAddress?

    /// - Parameter identity: the sender of the message; nil for data without a sender.
    init(
        of certificate: Certificate,
        in layer: SignedLayer,
        _ identity: SignerIdentity?,
        by validator: PathValidator,
        at time: Date
    ) {
        finding = identity?.judge(certificate) ?? SignerIdentity.defects(of: certificate)
        author = identity?.author(named: certificate)
        let restricted =
            identity.map { validator.restricted(to: $0.scopes(of: certificate)) }
            ?? validator.restricted(to: certificate.addressScopes, signedBy: certificate)
        verdict = layer.chain(of: certificate, by: restricted, at: time)
    }
}
