public import SMIME

extension SMIMEError.Code {
    /// A requirement cannot be met now, but perhaps later: 450 4.7.1.
    public static let deferred = Self("deferred", .temporary)
    /// This host has changed the message too often: 554 5.4.6.
    public static let loop = Self("loop", .input)
    /// Unencrypted mail from an account of the store to a recipient for whom it must be encrypted: 554 5.7.1.
    public static let mustBeEncrypted = Self("mustBeEncrypted", .input)
    /// A requirement cannot be met. The sentence is for the sender: 550 5.7.1.
    public static let refused = Self("refused", .recipient)
    /// The mail server did not accept a message.
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
