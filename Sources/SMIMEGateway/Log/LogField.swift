/// A key of a log line, with its values.
package struct LogField: Equatable, Sendable {
    package let key: String
    package let values: [String]

    package init(_ key: String, _ values: [String]) {
        self.key = key
        self.values = values
    }
}

extension MailRecord {
    /// `fields` and `details` as log fields. Texts are shortened to the length that a line permits.
    package var logFields: (fields: [LogField], details: [LogField]) {
        (fields.map(Self.logField), details.map(Self.logField))
    }

    private static func logField(_ field: Field) -> LogField {
        guard case .text(let text) = field.value else { return LogField(field.key, field.value.items) }
        return LogField(field.key, [LogLine.cut(text)])
    }
}
