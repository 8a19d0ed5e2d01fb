public import InternetMessage

extension EmailAddress {
    /// Reads `text`, which must contain an address and nothing else.
    ///
    /// - Throws: `.malformed`
    public init(_ text: some StringProtocol) throws(SMIMEError) {
        self = try SMIMEError.catching { try EmailAddress(String(text)) }
    }
}
