import ByteStreams
import InternetMessage
import SMIME

/// The kinds of protection that the form of a message prevents, such as a part in an unknown transfer encoding.
struct FormLimits: Sendable {
    /// Why the message cannot be signed; nil if it can be signed, or if signing was not examined.
    private(set) var signing: (any Error)?
    /// Why the message cannot be encrypted; nil if it can be encrypted, or if encryption was not examined.
    private(set) var encryption: (any Error)?

    /// Whether the form permits all protection that was examined.
    var areNone: Bool { signing == nil && encryption == nil }
    /// The error if the message must be protected; nil if the form permits the protection.
    var error: (any Error)? { encryption ?? signing }

    /// Examines the message as far as `actions` require.
    ///
    /// - Parameter protector: creates the protector of the message. It is called here, so that a fault of the message
    ///   counts as a limit of its form.
    /// - Throws: what reading the message throws.
    init(for actions: Set<PolicyDecision.Action>, _ protector: () throws -> MessageProtector) throws {
        func obstacle(isSigned: Bool, isEncrypted: Bool) throws -> (any Error)? {
            do {
                try protector().checkForm(isSigned: isSigned, isEncrypted: isEncrypted)
                return nil
            } catch {
                switch error {
                case is MessageError, MIMEError.limitExceeded, StreamError.malformedBase64: return error
                default: throw error
                }
            }
        }
        // Most messages can be signed and encrypted. Such a message can also be encrypted without a signature.
        let hasBoth = try actions.contains(.signAndEncrypt) && obstacle(isSigned: true, isEncrypted: true) == nil
        guard !hasBoth else {
            if actions.contains(.sign) { signing = try obstacle(isSigned: true, isEncrypted: false) }
            return
        }
        if actions.contains(where: \.encrypts) { encryption = try obstacle(isSigned: false, isEncrypted: true) }
        // A message that cannot be encrypted may still be signed.
        let signsInside = encryption == nil && actions.contains(.signAndEncrypt)
        if signsInside { signing = try obstacle(isSigned: true, isEncrypted: true) }
        let signsAlone = actions.contains(.sign) || encryption != nil && actions.contains(.signAndEncrypt)
        if signing == nil, signsAlone { signing = try obstacle(isSigned: true, isEncrypted: false) }
    }
}
