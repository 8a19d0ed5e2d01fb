/// What a log says of a mail: keys with their values, never content. How a line is written is the log's.
package struct MailRecord: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package let key: String
        package let value: Value
    }

    package enum Value: Equatable, Sendable {
        case text(String)
        case list([String])
        /// A value for each recipient, as `bob@example.com:sign+encrypt`.
        case perRecipient([RecipientValue])
        /// The name of a rule, and its recipients if other recipients have other rules.
        case rule(String, recipients: [String])
    }

    package struct RecipientValue: Equatable, Sendable {
        package let recipient: String
        package let value: String

        package init(_ recipient: String, value: String) {
            self.recipient = recipient
            self.value = value
        }
    }

    /// What counts most: verdict, recipients, actions.
    package private(set) var fields: [Field] = []
    /// The fields at the end of a line: certificates, ciphers, rules.
    package private(set) var details: [Field] = []

    package init() {}

    /// Adds a value; nil is left out.
    mutating func add(_ key: String, _ value: String?) {
        if let value { fields.append(Field(key: key, value: .text(value))) }
    }

    /// Adds what was done for each recipient.
    mutating func add(_ outcomes: [RecipientValue]) {
        add("recipients", "\(outcomes.count)")
        fields.append(Field(key: "actions", value: .perRecipient(outcomes)))
    }

    /// Adds a value to the details; nil is left out.
    mutating func addDetail(_ key: String, _ value: String?) {
        if let value { details.append(Field(key: key, value: .text(value))) }
    }

    /// Adds a list to the details; an empty one is left out.
    mutating func addDetail(_ key: String, _ items: [String]) {
        if !items.isEmpty { details.append(Field(key: key, value: .list(items))) }
    }

    /// Adds a value for each recipient to the details; an empty list is left out.
    mutating func addDetail(_ key: String, _ values: [RecipientValue]) {
        if !values.isEmpty { details.append(Field(key: key, value: .perRecipient(values))) }
    }

    /// Adds each rule once, with its recipients if there are several rules.
    mutating func addRules(_ rules: [RecipientValue]) {
        let texts = Self.unique(rules.map(\.value))
        for text in texts {
            let recipients = texts.count > 1 ? rules.filter { $0.value == text }.map(\.recipient) : []
            details.append(Field(key: "rule", value: .rule(text, recipients: recipients)))
        }
    }

    /// Each of `texts` once, in their order.
    static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}

extension MailRecord.Value {
    /// The value as items of a list; separators in addresses are escaped.
    package var items: [String] {
        switch self {
        case .text(let text): [text]
        case .list(let texts): texts
        case .perRecipient(let values): values.map { "\(Self.item($0.recipient)):\($0.value)" }
        case .rule(let text, let recipients):
            recipients.isEmpty
                ? [text]
                : recipients.enumerated().map { $0 == 0 ? "\(text) for \(Self.item($1))" : Self.item($1) }
        }
    }

    /// An address as an item of a list: what divides items is percent-encoded.
    private static func item(_ address: String) -> String {
        var item = ""
        for scalar in address.unicodeScalars {
            if " ,:;=%\"'\\".unicodeScalars.contains(scalar) {
                item += "%" + String(scalar.value, radix: 16, uppercase: true)
            } else {
                item.unicodeScalars.append(scalar)
            }
        }
        return item
    }
}
