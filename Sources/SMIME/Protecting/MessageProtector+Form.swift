import ByteStreams
import InternetMessage

extension MessageProtector {
    /// Checks that the message can be signed, encrypted or both. Nothing is written.
    ///
    /// - Throws: `MessageError` and `MIMEError.limitExceeded` if `sign` or `encrypt` would reject the message, and errors of
    ///   reading.
    package func checkForm(isSigned: Bool, isEncrypted: Bool) throws {
        let divided = try divided(isEncrypted: isEncrypted, layers: isSigned && isEncrypted ? 2 : 1)
        if isSigned { try divided.checkSafe() }
    }
}
