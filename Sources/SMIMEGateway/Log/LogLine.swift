import InternetMessage

/// The log entry for a mail: `key=value`, never content.
///
/// An entry is usually one line. Long lists, such as recipients, and pairs for which the first line has no room continue in
/// further lines, each with the fields that identify the mail and a number, so that no item is left out. Long texts are cut.
/// If there are too many warnings, only the first ones are written, and the number of all.
package struct LogLine: Sendable {
    /// The fields before the status.
    package private(set) var fields: [LogField] = []
    /// The fields after the duration.
    package private(set) var details: [LogField] = []
    /// The recipients as long as nothing is decided for them. They are listed as `to`, and counted as `recipients`.
    package var undecided: [String] = []

    /// The maximum length of the first line, in bytes, unless the pairs that are always in it are longer. A receiver of syslog
    /// should accept 2,048 bytes with the header of syslog (RFC 5424 §6.1).
    private static let maximumLine = 1900
    /// The maximum length of a list in one line, in bytes.
    private static let maximumList = 800
    /// The maximum length of any other value, in characters.
    private static let maximumValue = 1000
    /// The maximum number of warnings.
    private static let maximumWarnings = 10
    /// The keys that identify all lines of a mail.
    private static let names = ["direction", "queue_id", "message_id"]

    package init() {}

    /// Adds a value. Nil is ignored.
    package mutating func add(_ key: String, _ value: String?) {
        if let value { fields.append(LogField(key, [Self.cut(value)])) }
    }

    /// Adds a list after the status. An empty list is ignored.
    package mutating func addDetail(_ key: String, _ values: [String]) {
        if !values.isEmpty { details.append(LogField(key, values)) }
    }

    /// Adds the fields of `record`.
    package mutating func add(_ record: MailRecord) {
        let (fields, details) = record.logFields
        add(fields, details: details)
    }

    /// Adds fields that were created elsewhere.
    package mutating func add(_ fields: [LogField], details: [LogField]) {
        self.fields += fields
        self.details += details
        if fields.contains(where: { $0.key == "recipients" }) { undecided = [] }
    }

    /// All lines of the entry, including the status.
    ///
    /// - Parameter milliseconds: the duration in milliseconds.
    package func lines(
        status: String,
        error: String? = nil,
        warnings: [String] = [],
        milliseconds: String
    ) -> [String] {
        let all = every(status: status, error: error, warnings: warnings, milliseconds: milliseconds)
        let pairs = all.map { field in
            (key: field.key, texts: Self.chunks(field.values).map { Self.pair(field.key, value: $0) })
        }
        // Without these pairs the first line would be useless. The others are in it as far as there is room.
        func isFixed(_ key: String) -> Bool { Self.names.contains(key) || key == "status" || key == "ms" }
        func size(_ texts: [String]) -> Int { (texts.first?.utf8.count ?? 0) + 1 }
        let fixedSize = pairs.filter { isFixed($0.key) }.reduce(0) { $0 + size($1.texts) }
        var room = max(Self.maximumLine - fixedSize, 0)
        var (first, further): ([String], [String]) = ([], [])
        for (key, texts) in pairs {
            let needed = isFixed(key) ? 0 : size(texts)
            guard needed <= room else {
                further += texts
                continue
            }
            room -= needed
            first += texts.prefix(1)
            further += texts.dropFirst()
        }
        let names = fields.filter { Self.names.contains($0.key) }.map {
            Self.pair($0.key, value: $0.values.first ?? "")
        }
        let others = further.enumerated().map { (names + ["line=\($0 + 2)", $1]).joined(separator: " ") }
        return [first.joined(separator: " ")] + others
    }

    /// Only the fields and the details, on one line and without a status.
    package var text: String {
        (fields + details).map { Self.pair($0.key, value: $0.values.joined(separator: ",")) }.joined(separator: " ")
    }

    /// All fields of the entry in order.
    package func every(status: String, error: String?, warnings: [String], milliseconds: String) -> [LogField] {
        var all = fields
        if !undecided.isEmpty { all.append(LogField("recipients", ["\(undecided.count)"])) }
        all.append(LogField("status", [status]))
        if let error { all.append(LogField("error", [Self.cut(error)])) }
        all += warnings.prefix(Self.maximumWarnings).map { LogField("warning", [Self.cut($0)]) }
        if warnings.count > Self.maximumWarnings { all.append(LogField("warnings", ["\(warnings.count)"])) }
        all += [LogField("ms", [milliseconds])] + details
        if !undecided.isEmpty { all.append(LogField("to", undecided)) }
        return all
    }

    /// Joins the items into as few texts as the maximum length permits.
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

    /// The pair on one line, escaped for display. The value is quoted if it is empty, or contains blanks, quotes or
    /// equals signs. Quotes in the value are replaced, so that no value can imitate a pair.
    private static func pair(_ key: String, value: String) -> String {
        let text = value.escapedForDisplay
        // The comparison uses scalars: a combining mark after a quote forms another character, but the byte of the quote
        // still ends the value.
        let scalars = text.unicodeScalars
        let needsQuotes = scalars.contains {
            $0 == " " || $0 == "\"" || $0 == "=" || !$0.isASCII && $0.properties.isWhitespace
        }
        guard text.isEmpty || needsQuotes else { return "\(key)=\(text)" }
        return "\(key)=\"\(String(String.UnicodeScalarView(scalars.map { $0 == "\"" ? "'" : $0 })))\""
    }
}

/// A key of a log line, with its values.
package struct LogField: Equatable, Sendable {
    /// The key, such as `queue_id`.
    package let key: String
    /// The values: the items of a list, or a single text.
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
