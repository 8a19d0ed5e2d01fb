import CMS
public import MIME
public import Streams

/// How a whole message is protected before we touch it.
///
/// A message counts as protected only if a sound CMS object is all there is in it, whatever its header claims. Neither
/// signatures nor certificates are judged.
public enum ExistingProtection: Hashable, Sendable {
    case encrypted
    case signed
    case unprotected

    /// Looks at the outermost layer of `message`.
    ///
    /// - Throws: what reading throws.
    public init(of message: Entity, in source: any ByteSource) throws {
        switch message.securedForm {
        case .cms: self = try Self.protection(by: message, in: source)
        case .multipartSigned(_, let signature):
            self = try Self.protection(by: signature, in: source) == .signed ? .signed : .unprotected
        case .malformed, nil: self = .unprotected
        }
    }

    private static func protection(by entity: Entity, in source: any ByteSource) throws -> ExistingProtection {
        let outline: CMSOutline
        do { outline = try CMSOutline(reading: entity.decodedBody(of: source)) } catch {
            switch error {
            case is CMSError, StreamError.malformedBase64: return .unprotected
            default: throw error
            }
        }
        let isSound = !outline.problems.contains { $0.level == .error || $0.kind == .trailingBytes }
        switch outline.type {
        case .authEnvelopedData where isSound && outline.isReadableBySomebody: return .encrypted
        case .envelopedData where isSound && outline.isReadableBySomebody: return .encrypted
        case .signedData where isSound && !outline.signers.isEmpty: return .signed
        default: return .unprotected
        }
    }
}

extension CMSOutline {
    /// Whether there is content under a cipher that we know, for a recipient of a kind that we know. The text in clear can
    /// stand behind any other cipher's name, or in a recipient that is none.
    fileprivate var isReadableBySomebody: Bool {
        let isEnciphered = algorithms.last.map { name in ContentCipher.all.contains { $0.name == name } } ?? false
        return isEnciphered && (contentCount ?? 0) > 0 && recipients.contains { $0.kind != .other }
    }
}
