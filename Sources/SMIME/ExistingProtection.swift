import CMS
public import MIME
public import Streams

/// How a whole message is protected before we touch it.
///
/// A message counts as protected only if the CMS object is really there, whatever its header claims; neither its
/// signatures nor its recipients are looked at.
public enum ExistingProtection: Hashable, Sendable {
    case encrypted
    case signed
    case unprotected

    /// Looks at the outermost layer of `message`.
    ///
    /// - Throws: what reading throws.
    public init(of message: Entity, in source: any ByteSource) throws {
        switch message.securedForm {
        case .cms: self.init(try Self.type(of: message, in: source))
        case .multipartSigned(_, let signature):
            self = try Self.type(of: signature, in: source) == .signedData ? .signed : .unprotected
        case .malformed, nil: self = .unprotected
        }
    }

    private init(_ type: CMSContentType?) {
        switch type {
        case .authEnvelopedData, .envelopedData: self = .encrypted
        case .signedData: self = .signed
        default: self = .unprotected
        }
    }

    private static func type(of entity: Entity, in source: any ByteSource) throws -> CMSContentType? {
        do { return try CMSContentType(of: entity.decodedBody(of: source)) } catch {
            switch error {
            case is CMSError, StreamError.malformedBase64: return nil
            default: throw error
            }
        }
    }
}
