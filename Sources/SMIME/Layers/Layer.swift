import ByteStreams
import CMSSyntax
import PKIX

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
                    defects: Self.understatement(of: type, declared)
                )
            )
        case .compressedData: self = .compressed(try CompressedLayer(cms: stream))
        default: throw MessageError.malformed("a CMS object that mail does not carry")
        }
    }

    /// The reason why a CMS object of type `type` contradicts its smime-type; nil if it does not.
    static func contradiction(of type: CMSContentType, to declared: String?) -> String? {
        guard let declared, let expected = types[declared], !expected.contains(type) else { return nil }
        return "smime-type says \(declared.escapedForDisplay), but the content is something else"
    }

    /// The warning for an smime-type that names less protection than the object has. Senders of AuthEnvelopedData often write
    /// the older name.
    static func understatement(of type: CMSContentType, _ declared: String?) -> [Problem] {
        guard type == .authEnvelopedData, declared == "enveloped-data" else { return [] }
        return [Problem(.smimeTypeUnderstated, "smime-type says enveloped-data, and it is AuthEnvelopedData")]
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
