import ByteStreams
import InternetMessage
import SMIME

/// The protections that are impossible because of a message's form, such as a part in an unknown transfer encoding.
struct FormLimits: Sendable {
    /// Why the message cannot be signed; nil if it can, or if that was not asked.
    private(set) var signing: (any Error)?
    /// Why the message cannot be encrypted; nil if it can, or if that was not asked.
    private(set) var encryption: (any Error)?

    /// Whether the form allows everything that was asked about.
    var areNone: Bool { signing == nil && encryption == nil }
    /// The error for a message that must be protected.
    var error: (any Error)? { encryption ?? signing }

    /// Looks at the message as far as `actions` need it.
    ///
    /// - Parameter protector: makes the protector of the message. It is called here, so that a fault of the message counts as a limit of
    ///   its form.
    /// - Throws: what reading throws.
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
        // Most messages can be signed and encrypted; then they can be encrypted alone, too.
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
