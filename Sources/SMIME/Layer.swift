import CMS
import MIME
import Streams

/// One layer of protection, opened as far as it can be without keys.
enum Layer {
    case compressed(CompressedLayer)
    case encrypted(EncryptedLayer)
    case signed(SignedLayer)

    /// Opens `part`; nil if it is not protected.
    ///
    /// - Throws: `SMIMEError.malformed` if the MIME is not what it claims, `CMSError`.
    init?(_ part: SecuredEntity) throws {
        switch part.entity.securedForm {
        case nil: return nil
        case .malformed(let why): throw SMIMEError.malformed(why)
        case .multipartSigned(let content, let signature):
            self = .signed(try SignedLayer(content: content, signature: signature, in: part.source))
        case .cms(let declared):
            let padding = PaddingWatch()
            let stream = part.entity.decodedBody(of: part.source) { padding.note() }
            self = try Layer(cms: stream, declared: declared, padding: padding, mustBeEntity: true)
        }
    }

    /// Opens a CMS object that is said to be of type `declared`.
    init(cms stream: ByteStream, declared: String?, padding: PaddingWatch? = nil, mustBeEntity: Bool) throws {
        let type = try CMSContentType(of: stream)
        if let why = Self.contradiction(of: type, to: declared) { throw SMIMEError.malformed(why) }
        switch type {
        case .signedData:
            self = .signed(
                try SignedLayer(cms: stream, declared: declared, padding: padding, mustBeEntity: mustBeEntity)
            )
        case .envelopedData, .authEnvelopedData:
            self = .encrypted(try EncryptedLayer(cms: stream, padding: padding, mustBeEntity: mustBeEntity))
        case .compressedData: self = .compressed(try CompressedLayer(cms: stream))
        default: throw SMIMEError.malformed("a CMS object that mail does not carry")
        }
    }

    /// Why a CMS object of this type is not what its smime-type says; nil if it may be.
    static func contradiction(of type: CMSContentType, to declared: String?) -> String? {
        guard let declared, let expected = types[declared], !expected.contains(type) else { return nil }
        return "smime-type says \(declared.escapedForDisplay), but the content is something else"
    }

    /// What each smime-type stands for (RFC 8551 §3.2.2); encrypted types are often mixed up, and do no harm.
    private static let types: [String: [CMSContentType]] = [
        "signed-data": [.signedData], "certs-only": [.signedData], "signed-receipt": [.signedData],
        "enveloped-data": [.envelopedData, .authEnvelopedData],
        "authenveloped-data": [.envelopedData, .authEnvelopedData],
        "compressed-data": [.compressedData],
    ]
}
