import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// The log fields for a mail: keys with their values, never content. The log determines how a line is written.
package struct MailRecord: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package let key: String
        package let value: Value
    }

    package enum Value: Equatable, Sendable {
        case text(String)
        case list([String])
        /// A value for each recipient, such as `bob@example.com:sign+encrypt`.
        case perRecipient([RecipientValue])
        /// The name of a rule. If several rules apply, the recipients to whom this rule applies; otherwise empty.
        case rule(String, recipients: [String])
    }

    /// A value that applies to one recipient.
    package struct RecipientValue: Equatable, Sendable {
        /// The recipient's address in text form.
        package let recipient: String
        /// The value, such as an action or the fingerprint of a certificate.
        package let value: String

        package init(_ recipient: String, value: String) {
            self.recipient = recipient
            self.value = value
        }
    }

    /// The most important fields: verdict, recipients, actions.
    package private(set) var fields: [Field] = []
    /// The fields for the end of a line: certificates, ciphers, rules.
    package private(set) var details: [Field] = []

    package init() {}

    /// Adds a value. Nil is ignored.
    mutating func add(_ key: String, value: String?) {
        if let value { fields.append(Field(key: key, value: .text(value))) }
    }

    /// Adds the action for each recipient.
    mutating func add(_ outcomes: [RecipientValue]) {
        add("recipients", value: "\(outcomes.count)")
        fields.append(Field(key: "actions", value: .perRecipient(outcomes)))
    }

    /// Adds a value to the details. Nil is ignored.
    mutating func addDetail(_ key: String, value: String?) {
        if let value { details.append(Field(key: key, value: .text(value))) }
    }

    /// Adds a list to the details. An empty list is ignored.
    mutating func addDetail(_ key: String, _ items: [String]) {
        if !items.isEmpty { details.append(Field(key: key, value: .list(items))) }
    }

    /// Adds a value for each recipient to the details. An empty list is ignored.
    mutating func addDetail(_ key: String, _ values: [RecipientValue]) {
        if !values.isEmpty { details.append(Field(key: key, value: .perRecipient(values))) }
    }

    /// Adds each rule once. If there are several rules, adds their recipients as well.
    mutating func addRules(_ rules: [RecipientValue]) {
        let texts = Self.unique(rules.map(\.value))
        for text in texts {
            let recipients = texts.count > 1 ? rules.filter { $0.value == text }.map(\.recipient) : []
            details.append(Field(key: "rule", value: .rule(text, recipients: recipients)))
        }
    }

    /// `texts` without repetitions, in the same order.
    static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}

extension MailRecord.Value {
    /// The value as items of a list. Separators in addresses are percent-encoded.
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

    /// An address as an item of a list. Characters that separate items are percent-encoded.
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

extension MailRecord {
    /// Adds the verdict on incoming mail, and the action for each recipient.
    mutating func add(_ plan: IncomingPlan) {
        let report = plan.deepestReport
        add("verdict", value: report.status.rawValue)
        add("signer", value: (report.plainSigner ?? report.signers.first)?.address)
        add(
            plan.messages.flatMap { message in
                message.recipients.map { RecipientValue($0, value: message.isDecrypted ? "decrypted" : "delivered") }
            }
        )
        let isValid = report.status == .valid
        let problems =
            isValid
            ? report.signers.flatMap { report.reservations(about: $0) }
            : (report.problems + report.signers.flatMap(\.problems)).filter { $0.level == .error }
        let codes = Set(problems.map(\.kind.rawValue)).sorted()
        addDetail(isValid ? "reservations" : "problems", codes)
        addDetail("signer_certificate", report.signers.compactMap { $0.certificate.map { "\($0.fingerprint)" } })
        let layers = plan.report.layers + report.layers
        addDetail("cipher", Self.unique(layers.filter(\.kind.isEncryption).map(\.algorithm)))
        let opened = plan.messages.flatMap { message in
            message.recipients.compactMap { recipient in message.decryption.map { (recipient, $0) } }
        }
        addDetail("certificates", opened.map { RecipientValue($0, value: "\($1.certificate)") })
        addRules(opened.map { RecipientValue($0, value: "decrypt-at-gateway: \($1.rule)") })
    }

    /// Adds the decisions about outgoing mail.
    mutating func add(_ plan: OutgoingPlan) {
        add(
            plan.decisions.map { RecipientValue($0.recipient.text, value: $0.isPassed ? "passed" : $0.action.rawValue) }
        )
        addDetail("signer_certificate", value: plan.signerCertificate.map { "\($0)" })
        let encryptions = plan.encryptions
        addDetail("cipher", Self.unique(encryptions.map(\.cipher)))
        addDetail("certificates", encryptions.map { RecipientValue($0.recipient.text, value: "\($0.certificate)") })
        addDetail(
            "found_in",
            encryptions.compactMap { encryption in
                plan.sources[encryption.recipient].map { RecipientValue(encryption.recipient.text, value: $0.rawValue) }
            }
        )
        addRules(
            plan.decisions.map { decision in
                let axes = ["sign=", "encrypt="].compactMap { axis in decision.reasons.last { $0.hasPrefix(axis) } }
                return RecipientValue(decision.recipient.text, value: axes.joined(separator: "; "))
            }
        )
    }
}
