import ByteStreams
import InternetMessage

extension MessageProtector {
    /// Makes sure that the form of the message allows it to be signed, encrypted or both. Nothing is written.
    ///
    /// - Throws: `MessageError` and `MIMEError.limitExceeded` for what `sign` and `encrypt` would refuse, and what reading throws.
    package func checkForm(isSigned: Bool, isEncrypted: Bool) throws {
        let divided = try divided(isEncrypted: isEncrypted, layers: isSigned && isEncrypted ? 2 : 1)
        if isSigned { try divided.checkSafe() }
    }
}
