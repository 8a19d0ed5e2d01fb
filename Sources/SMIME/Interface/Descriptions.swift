// Descriptions that do not contain the bytes of a mail, so that a log that prints a value does not reveal them.

extension Message: CustomStringConvertible, CustomReflectable {
    /// The number of bytes, without the content.
    public var description: String { "a message of \(source.count) bytes" }
    /// Empty, so that `dump` and other reflection do not reveal the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OpenedMessage: CustomStringConvertible, CustomReflectable {
    /// The verdict, without the content.
    public var description: String { "an opened message (\(report.status.rawValue))" }
    /// Empty, so that `dump` and other reflection do not reveal the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CryptographicMessage.Content: CustomStringConvertible, CustomReflectable {
    /// A fixed text, without the content.
    public var description: String { "content" }
    /// Empty, so that `dump` and other reflection do not reveal the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
