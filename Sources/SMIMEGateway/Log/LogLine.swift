import InternetMessage

/// What the log says of one mail: `key=value`, never content.
///
/// Usually it is one line. Long lists, such as recipients, continue in further lines, each with the names of the mail
/// and a number: no line is longer than syslog allows, and nothing is left out.
package struct LogLine: Sendable {
    /// The fields before the status.
    package private(set) var fields: [LogField] = []
    /// The fields after the time it took.
    package private(set) var details: [LogField] = []

    /// The bytes of one list in one line.
    private static let maximumList = 800
    /// The characters of any other value.
    private static let maximumValue = 1000
    /// The maximum number of warnings.
    private static let maximumWarnings = 10
    /// The keys by which lines of one mail are known.
    private static let names = ["direction", "queue_id", "message_id"]

    package init() {}

    /// Adds a value; nil is left out.
    package mutating func add(_ key: String, _ value: String?) {
        if let value { fields.append(LogField(key, [Self.cut(value)])) }
    }

    /// Adds a list after the status; an empty one is left out.
    package mutating func addDetail(_ key: String, _ values: [String]) {
        if !values.isEmpty { details.append(LogField(key, values)) }
    }

    /// Adds what was decided and done.
    package mutating func add(_ record: MailRecord) {
        let (fields, details) = record.logFields
        add(fields, details: details)
    }

    /// Adds fields that were made elsewhere.
    package mutating func add(_ fields: [LogField], details: [LogField]) {
        self.fields += fields
        self.details += details
    }

    /// The whole text, with how it ended.
    ///
    /// - Parameter milliseconds: how long it took.
    package func lines(
        status: String,
        error: String? = nil,
        warnings: [String] = [],
        milliseconds: String
    ) -> [String] {
        let all = every(status: status, error: error, warnings: warnings, milliseconds: milliseconds)
        let chunks = all.map { (key: $0.key, chunks: Self.chunks($0.values)) }
        var lines = [chunks.map { Self.pair($0.key, value: $0.chunks.first ?? "") }.joined(separator: " ")]
        let names = fields.filter { Self.names.contains($0.key) }.map {
            Self.pair($0.key, value: $0.values.first ?? "")
        }
        for (key, chunks) in chunks {
            for chunk in chunks.dropFirst() {
                lines.append(
                    (names + ["line=\(lines.count + 1)", Self.pair(key, value: chunk)]).joined(separator: " ")
                )
            }
        }
        return lines
    }

    /// The fields alone, on one line.
    package var text: String {
        (fields + details).map { Self.pair($0.key, value: $0.values.joined(separator: ",")) }.joined(separator: " ")
    }

    /// All fields in their order.
    package func every(status: String, error: String?, warnings: [String], milliseconds: String) -> [LogField] {
        var all = fields + [LogField("status", [status])]
        if let error { all.append(LogField("error", [Self.cut(error)])) }
        all += warnings.prefix(Self.maximumWarnings).map { LogField("warning", [Self.cut($0)]) }
        if warnings.count > Self.maximumWarnings { all.append(LogField("warnings", ["\(warnings.count)"])) }
        return all + [LogField("ms", [milliseconds])] + details
    }

    /// The items in as few texts as their length allows.
    private static func chunks(_ items: [String]) -> [String] {
        var chunks: [String] = []
        var size = 0
        for item in items {
            if let last = chunks.last, size + item.utf8.count < maximumList {
                chunks[chunks.count - 1] = last + "," + item
                size += item.utf8.count + 1
            } else {
                chunks.append(item)
                size = item.utf8.count
            }
        }
        return chunks
    }

    static func cut(_ text: String) -> String { String(text.prefix(maximumValue)) }

    /// The pair on one line, escaped for display; the value is quoted if it has blanks. A quote inside it is replaced, so that no value can
    /// fake a pair.
    private static func pair(_ key: String, value: String) -> String {
        let text = value.escapedForDisplay
        // By scalars: a combining mark after a quote makes another character of it, but the quote's byte still ends the value.
        let scalars = text.unicodeScalars
        let needsQuotes = scalars.contains {
            $0 == " " || $0 == "\"" || $0 == "=" || !$0.isASCII && $0.properties.isWhitespace
        }
        guard text.isEmpty || needsQuotes else { return "\(key)=\(text)" }
        return "\(key)=\"\(String(String.UnicodeScalarView(scalars.map { $0 == "\"" ? "'" : $0 })))\""
    }
}
