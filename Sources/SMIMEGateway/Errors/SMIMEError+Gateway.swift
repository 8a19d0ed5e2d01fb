public import SMIME

extension SMIMEError.Code {
    /// A requirement cannot be met now, and may be met later: 450 4.7.1.
    public static let deferred = Self("deferred", .temporary)
    /// The message was changed here too often already: 554 5.4.6.
    public static let loop = Self("loop", .input)
    /// Clear mail from an account of ours to a recipient who must get it encrypted: 554 5.7.1.
    public static let mustBeEncrypted = Self("mustBeEncrypted", .input)
    /// A requirement cannot be met; the sentence is for the sender: 550 5.7.1.
    public static let refused = Self("refused", .recipient)
    /// The mail server did not take a message.
    public static let transport = Self("transport", .temporary)
}

extension GatewayError: CodedError {
    package var code: SMIMEError.Code {
        switch self {
        case .loop: .loop
        case .mayBeClear, .mustBeEncrypted: .mustBeEncrypted
        case .refused: .refused
        case .waiting: .deferred
        }
    }
}

extension TransportError: CodedError {
    package var code: SMIMEError.Code { .transport }
}
